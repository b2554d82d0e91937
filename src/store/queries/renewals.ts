import type { Kysely } from 'kysely'
import type { Renewal } from '../../model/ledger.ts'
import type { OrderStore } from '../ports/orders.ts'
import type { RenewalRow, Schema } from '../schema.ts'

type Renewals = Pick<OrderStore, 'findRenewal' | 'listRenewals' | 'putRenewal' | 'deleteRenewal'>

export const renewalsIn = (db: Kysely<Schema>): Renewals => ({
  async findRenewal(fingerprint) {
    const row = await db.selectFrom('renewals').selectAll().where('fingerprint', '=', fingerprint).executeTakeFirst()
    return row && toRenewal(row)
  },

  async listRenewals() {
    const rows = await db.selectFrom('renewals').selectAll().orderBy('names').orderBy('fingerprint').execute()
    return rows.map(toRenewal)
  },

  async putRenewal({ fingerprint, names, attempts, failures, nextAttemptAt, reason, advice }) {
    const latest = {
      names: names.join(','),
      attempts,
      failures,
      next_attempt_at: nextAttemptAt ?? null,
      reason: reason ?? null,
      advice: advice === undefined ? null : JSON.stringify(advice),
    }
    await db
      .insertInto('renewals')
      .values({ fingerprint, ...latest })
      .onConflict((conflict) => conflict.column('fingerprint').doUpdateSet(latest))
      .execute()
  },

  async deleteRenewal(fingerprint) {
    await db.deleteFrom('renewals').where('fingerprint', '=', fingerprint).execute()
  },
})

const toRenewal = (row: RenewalRow): Renewal => ({
  fingerprint: row.fingerprint,
  names: row.names.split(','),
  attempts: row.attempts,
  failures: row.failures,
  ...(row.next_attempt_at !== null && { nextAttemptAt: row.next_attempt_at }),
  ...(row.reason !== null && { reason: row.reason }),
  ...(row.advice !== null && { advice: JSON.parse(row.advice) }),
})
