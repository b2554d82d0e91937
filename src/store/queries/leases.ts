import type { ExpressionBuilder, Kysely } from 'kysely'
import type { Lease } from '../ports/leases.ts'
import type { StoreSession } from '../ports/store.ts'
import type { LeaseRow, Schema } from '../schema.ts'

type Leases = Pick<StoreSession, 'takeLease' | 'findLease' | 'renewLeases' | 'releaseLease'>

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

  async renewLeases(leases, now, lifeMs) {
    const renewed = new Set<string>()
    for (let from = 0; from < leases.length; from += MOST_AT_ONCE) {
      const rows = await db
        .updateTable('leases')
        .set({ expires_at: now + lifeMs })
        .where((eb) => eb.or(sameTaking(leases.slice(from, from + MOST_AT_ONCE)).map((one) => heldAs(eb, one))))
        .returning('name')
        .execute()
      for (const { name } of rows) renewed.add(name)
    }
    return renewed
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

/** Leases of one statement: no engine takes any number of values at once. */
const MOST_AT_ONCE = 500

type Taking = Pick<Lease, 'holder' | 'fence'> & { readonly names: readonly string[] }

/** By holder and fence: both engines compare a list of names, but not a list of pairs. */
const sameTaking = (leases: readonly Lease[]): Taking[] =>
  [...Map.groupBy(leases, ({ holder, fence }) => `${fence} ${holder}`).values()].flatMap((group) =>
    group[0] ? [{ holder: group[0].holder, fence: group[0].fence, names: group.map(({ name }) => name) }] : [],
  )

const heldAs = (eb: ExpressionBuilder<Schema, 'leases'>, { holder, fence, names }: Taking) =>
  eb.and([eb('holder', '=', holder), eb('fence', '=', fence), eb('name', 'in', names)])

const toLease = (row: LeaseRow): Lease | undefined =>
  row.holder === null ? undefined : { name: row.name, holder: row.holder, fence: row.fence, expiresAt: row.expires_at }
