import type { Kysely } from 'kysely'
import type { Lease, StoreSession } from './contract.ts'
import type { LeaseRow, Schema } from './schema.ts'

type Leases = Pick<StoreSession, 'takeLease' | 'findLease' | 'renewLease' | 'releaseLease'>

export const leasesIn = (db: Kysely<Schema>): Leases => ({
  async takeLease(name, holder, now, lifeMs) {
    const expires_at = now + lifeMs
    const row = await db
      .insertInto('leases')
      .values({ name, holder, fence: 1, expires_at })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet((eb) => ({ holder, fence: eb('leases.fence', '+', 1), expires_at }))
          .where((eb) =>
            eb.or([
              eb('leases.holder', 'is', null),
              eb('leases.holder', '=', holder),
              eb('leases.expires_at', '<=', now),
            ]),
          ),
      )
      .returningAll()
      .executeTakeFirst()
    return row && toLease(row)
  },

  async findLease(name, now) {
    const row = await db
      .selectFrom('leases')
      .selectAll()
      .where('name', '=', name)
      .where('expires_at', '>', now)
      .executeTakeFirst()
    return row && toLease(row)
  },

  async renewLease({ name, holder, fence }, now, lifeMs) {
    const { numUpdatedRows } = await db
      .updateTable('leases')
      .set({ expires_at: now + lifeMs })
      .where('name', '=', name)
      .where('holder', '=', holder)
      .where('fence', '=', fence)
      .executeTakeFirst()
    return numUpdatedRows === 1n
  },

  async releaseLease({ name, holder, fence }) {
    await db
      .updateTable('leases')
      .set({ holder: null })
      .where('name', '=', name)
      .where('holder', '=', holder)
      .where('fence', '=', fence)
      .execute()
  },
})

const toLease = (row: LeaseRow): Lease | undefined =>
  row.holder === null ? undefined : { name: row.name, holder: row.holder, fence: row.fence, expiresAt: row.expires_at }
