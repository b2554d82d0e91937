import type { Kysely } from 'kysely'
import type { AuditEntry, PruneFacts } from '../../model/audit.ts'
import type { PlanState } from '../../model/exposure.ts'
import type { Store } from '../ports/store.ts'
import type { Schema } from '../schema.ts'
import { auditLinesIn } from './audit-lines.ts'

type Limits = Parameters<Store['prune']>[0]

/** States of plans that never went live. A `removed` one did, and stays as long as the audit of it. */
const NEVER_LIVE: readonly PlanState[] = ['planned', 'rolled_back', 'expired']

export async function prune(db: Kysely<Schema>, limits: Limits): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await prunePlans(transaction, limits)
    await pruneCapabilities(transaction, limits)
    await transaction.deleteFrom('events').where('at', '<', limits.eventsBefore).execute()
    await pruneLedger(transaction, limits)
    await pruneAudit(transaction, limits)
  })
}

/** Capabilities go with their plan, a journal with its run. A run that begins meanwhile holds its plan by reference. */
async function prunePlans(transaction: Kysely<Schema>, { plansBefore, auditBefore, now }: Limits): Promise<void> {
  const exposed = transaction.selectFrom('exposures').select('plan_id')
  const ofNoUse = transaction
    .selectFrom('plans')
    .select('plan_id')
    .where('created_at', '<', plansBefore)
    .where('expires_at', '<=', now)
    .where('state', 'in', NEVER_LIVE)
    .where('plan_id', 'not in', exposed)
    .where('plan_id', 'not in', transaction.selectFrom('runs').select('plan_id').where('state', '=', 'running'))
  const longGone = transaction
    .selectFrom('plans')
    .select('plan_id')
    .where('created_at', '<', auditBefore)
    .where('state', '=', 'removed')
    .where('plan_id', 'not in', exposed)
    .where(
      'plan_id',
      'not in',
      transaction
        .selectFrom('runs')
        .select('plan_id')
        .where((eb) => eb.or([eb('finished_at', 'is', null), eb('finished_at', '>=', auditBefore)])),
    )
  for (const plans of [ofNoUse, longGone]) {
    await transaction.deleteFrom('runs').where('plan_id', 'in', plans).execute()
    await transaction.deleteFrom('plans').where('plan_id', 'in', plans).execute()
  }
}

/** A spent one is kept as long as a plan is, so that its second use can be told from an invention. */
async function pruneCapabilities(transaction: Kysely<Schema>, { plansBefore, now }: Limits): Promise<void> {
  await transaction
    .deleteFrom('capabilities')
    .where('issued_at', '<', plansBefore)
    .where((eb) => eb.or([eb('used_at', 'is not', null), eb('expires_at', '<=', now)]))
    .execute()
}

/** Longer than any authority's limits look back. */
const LEDGER_MS = 60 * 86_400_000

async function pruneLedger(transaction: Kysely<Schema>, { now }: Limits): Promise<void> {
  await transaction
    .deleteFrom('ledger')
    .where('at', '<', now - LEDGER_MS)
    .execute()
}

/** Takes lines off the beginning of the chain and lets a new line at its end vouch for the new beginning. */
async function pruneAudit(transaction: Kysely<Schema>, { auditBefore, now }: Limits): Promise<void> {
  const last = await lastToRemove(transaction, auditBefore)
  if (!last) return
  const { numDeletedRows } = await transaction
    .deleteFrom('audit_lines')
    .where('seq', '<=', last.throughSeq)
    .executeTakeFirst()
  // Zero when another instance pruned the same lines at the same time.
  if (numDeletedRows > 0n) await auditLinesIn(transaction).appendAudit(pruneEntry(last, now))
}

/** Clocks may step back, so the lines to go are those before the first one that stays, whatever their times. */
async function lastToRemove(transaction: Kysely<Schema>, auditBefore: number): Promise<PruneFacts | undefined> {
  const newestPruneLine = transaction
    .selectFrom('audit_lines')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .where('action', '=', 'prune')
  const { firstToStay } = await transaction
    .selectFrom('audit_lines')
    .select((eb) => eb.fn.min('seq').as('firstToStay'))
    .where((eb) =>
      eb.or([
        eb('at', '>=', auditBefore),
        eb('seq', '=', eb.selectFrom('audit_head').select('audit_head.seq')),
        eb('seq', '=', newestPruneLine),
      ]),
    )
    .executeTakeFirstOrThrow()
  return transaction
    .selectFrom('audit_lines')
    .select(['seq as throughSeq', 'hash as throughHash'])
    .where('seq', '<', firstToStay)
    .orderBy('seq', 'desc')
    .executeTakeFirst()
}

const pruneEntry = (facts: PruneFacts, now: number): AuditEntry => ({
  at: now,
  actor: 'drawbridge',
  network: 'self',
  action: 'prune',
  outcome: 'ok',
  facts,
})
