import type { Kysely } from 'kysely'
import type { StoreSession } from './contract.ts'
import type { Schema } from './schema.ts'

type Exposures = Pick<StoreSession, 'findExposure' | 'insertExposure' | 'moveExposure' | 'deleteExposure'>

export const exposuresIn = (db: Kysely<Schema>): Exposures => ({
  async findExposure(host) {
    const row = await db.selectFrom('exposures').selectAll().where('host', '=', host).executeTakeFirst()
    return row && { host: row.host, planId: row.plan_id, state: row.state, fence: row.fence, since: row.since }
  },

  async insertExposure({ host, planId, state, fence, since }) {
    const { numInsertedOrUpdatedRows } = await db
      .insertInto('exposures')
      .values({ host, plan_id: planId, state, fence, since })
      .onConflict((conflict) =>
        conflict
          .column('host')
          .doUpdateSet({ state, fence, since })
          .where('exposures.plan_id', '=', planId)
          .where('exposures.fence', '<=', fence),
      )
      .executeTakeFirst()
    return numInsertedOrUpdatedRows === 1n
  },

  async moveExposure(host, planId, fence, to, since) {
    const { numUpdatedRows } = await db
      .updateTable('exposures')
      .set({ state: to, fence, since })
      .where('host', '=', host)
      .where('plan_id', '=', planId)
      .where('fence', '<=', fence)
      .executeTakeFirst()
    return numUpdatedRows === 1n
  },

  async deleteExposure(host, planId, fence) {
    const { numDeletedRows } = await db
      .deleteFrom('exposures')
      .where('host', '=', host)
      .where('plan_id', '=', planId)
      .where('fence', '<=', fence)
      .executeTakeFirst()
    return numDeletedRows === 1n
  },
})
