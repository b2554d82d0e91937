import type { Kysely } from 'kysely'
import { decodeReceipt } from '../../model/receipt.ts'
import type { Exposure, ExposureStore } from '../ports/exposures.ts'
import type { ExposureRow, Schema } from '../schema.ts'

export const exposuresIn = (db: Kysely<Schema>): ExposureStore => ({
  ...readsIn(db),
  ...claimsIn(db),
  ...endsIn(db),
  ...runClaimsIn(db),
})

type Reads = Pick<ExposureStore, 'findExposure' | 'listExposures' | 'exposuresDue'>

const readsIn = (db: Kysely<Schema>): Reads => ({
  async findExposure(host) {
    const row = await db.selectFrom('exposures').selectAll().where('host', '=', host).executeTakeFirst()
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
      .orderBy('expires_at')
      .orderBy('host')
      .execute()
    return rows.map(toExposure)
  },
})

type Claims = Pick<ExposureStore, 'insertExposure' | 'moveExposure' | 'deleteExposure' | 'setExposureReceipt'>

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
})

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
      .set({ expires_at: expiresAt })
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
      })
      .where('host', '=', host)
      .where('plan_id', '=', former)
      .where('fence', '<=', fence)
      .executeTakeFirst()
    return numUpdatedRows === 1n
  },
})

type RunClaims = Pick<ExposureStore, 'claimExposure' | 'exposuresOf' | 'passClaims'>

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

  async exposuresOf(runId) {
    const rows = await db.selectFrom('exposures').selectAll().where('run_id', '=', runId).orderBy('host').execute()
    return rows.map(toExposure)
  },

  async passClaims(runId, to) {
    await db
      .updateTable('exposures')
      .set({ run_id: to ?? null })
      .where('run_id', '=', runId)
      .execute()
  },
})

const toExposure = (row: ExposureRow): Exposure => ({
  host: row.host,
  planId: row.plan_id,
  state: row.state,
  fence: row.fence,
  since: row.since,
  ...(row.receipt !== null && { receipt: decodeReceipt(JSON.parse(row.receipt), row.host) }),
  ...(row.expires_at !== null && { expiresAt: row.expires_at }),
  ...(row.run_id !== null && { runId: row.run_id }),
})
