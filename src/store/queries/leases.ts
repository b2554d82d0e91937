import type { ExpressionBuilder, Kysely } from 'kysely'
import { slicesOf } from '../../primitives/slices.ts'
import type { Lease, LeaseStore } from '../ports/leases.ts'
import type { LeaseRow, Schema } from '../schema.ts'

export const leasesIn = (db: Kysely<Schema>): LeaseStore => ({
  takeLease: async (name, ...terms) => (await take(db, [name], ...terms))[0],

  async takeLeases(names, ...terms) {
    const sorted = [...new Set(names)].toSorted()
    const taken: Lease[] = []
    for (const slice of slicesOf(sorted, SLICE_SIZE)) taken.push(...(await take(db, slice, ...terms)))
    return taken
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

  async lastFences(names) {
    const fences = new Map<string, number>()
    for (const slice of slicesOf(names, SLICE_SIZE)) {
      const rows = await db.selectFrom('leases').select(['name', 'fence']).where('name', 'in', slice).execute()
      for (const { name, fence } of rows) fences.set(name, fence)
    }
    return fences
  },

  async raiseLastFences(names, fence) {
    for (const slice of slicesOf(names, SLICE_SIZE))
      await db
        .insertInto('leases')
        .values(slice.map((name) => ({ name, holder: null, fence, expires_at: 0 })))
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ fence }).where('leases.fence', '<', fence))
        .execute()
  },

  async renewLeases(leases, now, ttlMs) {
    const renewed = new Set<string>()
    for (const slice of slicesOf(leases, SLICE_SIZE)) {
      const rows = await db
        .updateTable('leases')
        .set({ expires_at: now + ttlMs })
        .where((eb) => isOneOf(eb, slice))
        .returning('name')
        .execute()
      for (const { name } of rows) renewed.add(name)
    }
    return renewed
  },

  releaseLease: (lease) => release(db, [lease]),

  async releaseLeases(leases) {
    for (const slice of slicesOf(leases, SLICE_SIZE)) await release(db, slice)
  },
})

const release = async (db: Kysely<Schema>, leases: readonly Lease[]): Promise<void> => {
  await db
    .updateTable('leases')
    .set({ holder: null })
    .where((eb) => isOneOf(eb, leases))
    .execute()
}

/** Rows are locked in the order of the names. */
async function take(
  db: Kysely<Schema>,
  names: readonly string[],
  holder: string,
  now: number,
  ttlMs: number,
): Promise<readonly Lease[]> {
  const expires_at = now + ttlMs
  const rows = await db
    .insertInto('leases')
    .values(names.map((name) => ({ name, holder, fence: 1, expires_at })))
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet((eb) => ({ holder, fence: eb('leases.fence', '+', 1), expires_at }))
        .where((eb) =>
          eb.or([
            eb('leases.holder', 'is', null),
            eb('leases.holder', '=', holder),
            // An expiry far ahead proves no death: when clocks are set back, a live lease looks so until its next renewal.
            eb('leases.expires_at', '<=', now),
          ]),
        ),
    )
    .returningAll()
    .execute()
  return rows.flatMap((row) => toLease(row) ?? [])
}

/** Both engines limit the values of one statement, and SQLite blocks the event loop during each. */
const SLICE_SIZE = 200

type LeaseGroup = Pick<Lease, 'holder' | 'fence'> & { readonly names: readonly string[] }

/** Groups leases, because both engines can compare with a list of names but not with a list of tuples. */
const byHolderAndFence = (leases: readonly Lease[]): LeaseGroup[] =>
  [...Map.groupBy(leases, ({ holder, fence }) => `${fence} ${holder}`).values()].flatMap((group) =>
    group[0] ? [{ holder: group[0].holder, fence: group[0].fence, names: group.map(({ name }) => name) }] : [],
  )

const isOneOf = (eb: ExpressionBuilder<Schema, 'leases'>, leases: readonly Lease[]) =>
  eb.or(byHolderAndFence(leases).map((group) => heldAs(eb, group)))

const heldAs = (eb: ExpressionBuilder<Schema, 'leases'>, { holder, fence, names }: LeaseGroup) =>
  eb.and([eb('holder', '=', holder), eb('fence', '=', fence), eb('name', 'in', names)])

const toLease = (row: LeaseRow): Lease | undefined =>
  row.holder === null ? undefined : { name: row.name, holder: row.holder, fence: row.fence, expiresAt: row.expires_at }
