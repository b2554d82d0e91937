import { type Kysely, type Selectable, sql } from 'kysely'
import { decodeReceipt } from '../../model/receipt.ts'
import { slicesOf } from '../../primitives/slices.ts'
import type { Exposure, ExposureClaim, ExposureStore } from '../ports/exposures.ts'
import type { ExposureRow, Schema } from '../schema.ts'
import { statement } from '../statement.ts'

const findOne = statement((db, { host }: { host: string }) =>
  db.selectFrom('exposures').selectAll().where('host', '=', host),
)

export const exposuresIn = (db: Kysely<Schema>): ExposureStore => ({
  ...readsIn(db),
  ...claimsIn(db),
  ...endsIn(db),
  ...runClaimsIn(db),
})

type Reads = Pick<ExposureStore, 'findExposure' | 'listExposures' | 'exposuresDue'>

const readsIn = (db: Kysely<Schema>): Reads => ({
  async findExposure(host) {
    const [row] = (await findOne(db, { host })).rows
    return row && toExposure(row)
  },

  async listExposures({ after, limit }) {
    const rows = await db
      .selectFrom('exposures')
      .selectAll()
      .where('host', '>', after)
      .orderBy('host')
      .limit(limit)
      .execute()
    return rows.map(toExposure)
  },

  async exposuresDue(now) {
    const rows = await db
      .selectFrom('exposures')
      .selectAll()
      .where('state', '=', 'applied')
      .where('expires_at', '<=', now)
      .where('unconfirmed', 'is', null)
      .orderBy('expires_at')
      .orderBy('host')
      .execute()
    return rows.map(toExposure)
  },
})

type Claims = Pick<
  ExposureStore,
  'insertExposure' | 'moveExposure' | 'deleteExposure' | 'setExposureReceipt' | 'setExposureReceipts'
>

const claimsIn = (db: Kysely<Schema>): Claims => ({
  async insertExposure({ host, planId, receipt, expiresAt, runId, ...claim }) {
    const given = {
      ...claim,
      run_id: runId ?? null,
      ...(receipt !== undefined && { receipt: JSON.stringify(receipt) }),
      ...(expiresAt !== undefined && { expires_at: expiresAt }),
    }
    const { numInsertedOrUpdatedRows } = await db
      .insertInto('exposures')
      .values({ host, plan_id: planId, ...given })
      .onConflict((conflict) =>
        conflict
          .column('host')
          .doUpdateSet(given)
          .where('exposures.plan_id', '=', planId)
          .where('exposures.fence', '<=', claim.fence),
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

  async setExposureReceipt(host, planId, receipt, fence) {
    const { numUpdatedRows } = await db
      .updateTable('exposures')
      .set({ receipt: JSON.stringify(receipt), fence })
      .where('host', '=', host)
      .where('plan_id', '=', planId)
      .where('fence', '<=', fence)
      .executeTakeFirst()
    return numUpdatedRows === 1n
  },

  async setExposureReceipts(given) {
    for (const slice of slicesOf(given, SLICE_SIZE)) {
      const rows = slice.map(({ receipt, ...claim }) => sql`(${claimOf(claim)}, ${JSON.stringify(receipt)})`)
      await sql`
        with given(host, plan_id, fence, receipt) as (values ${sql.join(rows)})
        update exposures set receipt = given.receipt, fence = given.fence from given where ${isHeld}`.execute(db)
    }
  },
})

/** Both engines limit the values of one statement, and SQLite blocks the event loop during each. */
const SLICE_SIZE = 200

/** PostgreSQL takes parameters in a list of values for text. */
const claimOf = ({ host, planId, fence }: ExposureClaim) => sql`${host}, ${planId}, cast(${fence} as bigint)`

const isHeld = sql`exposures.host = given.host and exposures.plan_id = given.plan_id and exposures.fence <= given.fence`

type Ends = Pick<ExposureStore, 'setExposureExpiry' | 'prolongExposure' | 'replaceExposure'>

const endsIn = (db: Kysely<Schema>): Ends => ({
  async setExposureExpiry(host, planId, expiresAt) {
    const { numUpdatedRows } = await db
      .updateTable('exposures')
      .set({ expires_at: expiresAt ?? null })
      .where('host', '=', host)
      .where('plan_id', '=', planId)
      .executeTakeFirst()
    return numUpdatedRows === 1n
  },

  async prolongExposure(host, planId, expiresAt) {
    const { numUpdatedRows } = await db
      .updateTable('exposures')
      .set({ expires_at: expiresAt, unconfirmed: null })
      .where('host', '=', host)
      .where('plan_id', '=', planId)
      .where('state', '=', 'applied')
      .where('expires_at', '<=', expiresAt)
      .executeTakeFirst()
    return numUpdatedRows === 1n
  },

  async replaceExposure(former, { host, planId, state, fence, since, receipt, expiresAt }) {
    const { numUpdatedRows } = await db
      .updateTable('exposures')
      .set({
        ...{ plan_id: planId, state, fence, since },
        receipt: receipt === undefined ? null : JSON.stringify(receipt),
        expires_at: expiresAt ?? null,
        unconfirmed: null,
      })
      .where('host', '=', host)
      .where('plan_id', '=', former)
      .where('fence', '<=', fence)
      .executeTakeFirst()
    return numUpdatedRows === 1n
  },
})

type RunClaims = Pick<
  ExposureStore,
  'claimExposure' | 'claimExposures' | 'confirmExposures' | 'exposuresOf' | 'passClaims'
>

const runClaimsIn = (db: Kysely<Schema>): RunClaims => ({
  async claimExposure(host, planId, runId, fence) {
    const { numUpdatedRows } = await db
      .updateTable('exposures')
      .set({ run_id: runId, fence })
      .where('host', '=', host)
      .where('plan_id', '=', planId)
      .where('fence', '<=', fence)
      .where('run_id', 'is', null)
      .executeTakeFirst()
    return numUpdatedRows === 1n
  },

  async claimExposures(given, runId) {
    const claimed = new Set<string>()
    for (const slice of slicesOf(given, SLICE_SIZE)) {
      const rows = slice.map((claim) => sql`(${claimOf(claim)})`)
      const found = await sql<{ host: string }>`
        with given(host, plan_id, fence) as (values ${sql.join(rows)})
        update exposures set run_id = ${runId}, fence = given.fence from given
        where ${isHeld} and exposures.run_id is null returning exposures.host`.execute(db)
      for (const { host } of found.rows) claimed.add(host)
    }
    return claimed
  },

  async confirmExposures(hosts, what) {
    for (const some of slicesOf(hosts, SLICE_SIZE)) {
      const waiting = () => db.updateTable('exposures').where('host', 'in', some).where('unconfirmed', 'is not', null)
      await waiting().set({ unconfirmed: 'end' }).where('expires_at', 'is not', null).execute()
      const rest = waiting().set({ unconfirmed: null })
      await (what === 'end' ? rest : rest.where('expires_at', 'is', null)).execute()
    }
  },

  async exposuresOf(runId) {
    const found: Exposure[] = []
    for (;;) {
      const rows = await db
        .selectFrom('exposures')
        .selectAll()
        .where('run_id', '=', runId)
        .where('host', '>', found.at(-1)?.host ?? '')
        .orderBy('host')
        .limit(SLICE_SIZE)
        .execute()
      for (const row of rows) found.push(toExposure(row))
      if (rows.length < SLICE_SIZE) return found
    }
  },

  async passClaims(runId, to) {
    for (let after = ''; ; ) {
      const slice = db
        .selectFrom('exposures')
        .select('host')
        .where('run_id', '=', runId)
        .where('host', '>', after)
        .orderBy('host')
        .limit(SLICE_SIZE)
      const passed = await db
        .updateTable('exposures')
        .set({ run_id: to ?? null })
        .where('host', 'in', slice)
        .returning('host')
        .execute()
      if (passed.length < SLICE_SIZE) return
      after = passed.reduce((last, { host }) => (host > last ? host : last), after)
    }
  },
})

const toExposure = (row: Selectable<ExposureRow>): Exposure => ({
  host: row.host,
  planId: row.plan_id,
  state: row.state,
  fence: row.fence,
  since: row.since,
  ...(row.receipt !== null && { receipt: decodeReceipt(JSON.parse(row.receipt), row.host) }),
  ...(row.expires_at !== null && { expiresAt: row.expires_at }),
  ...(row.run_id !== null && { runId: row.run_id }),
  ...(row.unconfirmed !== null && { unconfirmed: row.unconfirmed }),
})
