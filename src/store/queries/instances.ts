import type { Kysely } from 'kysely'
import type { InstanceStore } from '../ports/instances.ts'
import type { Schema } from '../schema.ts'

export const instancesIn = (db: Kysely<Schema>): InstanceStore => ({
  async announceInstance({ name, process, address, version, edges, keys, startedAt }, now, ttlMs, former) {
    const announced = {
      process,
      address,
      version,
      edges: JSON.stringify(edges),
      keys: JSON.stringify(keys),
      started_at: startedAt,
      alive_until: now + ttlMs,
    }
    const { numInsertedOrUpdatedRows } = await db
      .insertInto('instances')
      .values({ name, ...announced })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet(announced)
          .where((eb) =>
            eb.or([
              eb('instances.process', 'in', former === undefined ? [process] : [process, former]),
              eb('instances.alive_until', '<=', now),
            ]),
          ),
      )
      .executeTakeFirst()
    return numInsertedOrUpdatedRows === 1n
  },

  async withdrawInstance(name, process) {
    await db.deleteFrom('instances').where('name', '=', name).where('process', '=', process).execute()
  },

  async liveInstances(now) {
    const rows = await db.selectFrom('instances').selectAll().where('alive_until', '>', now).orderBy('name').execute()
    return rows.map(({ name, process, address, version, edges, keys, started_at }) => ({
      name,
      process,
      address,
      version,
      edges: JSON.parse(edges),
      keys: JSON.parse(keys),
      startedAt: started_at,
    }))
  },
})
