import type { Kysely } from 'kysely'
import type { AuditEntry, PruneFacts } from '../../model/audit.ts'
import type { PlanState } from '../../model/exposure.ts'
import { oldestSlots } from '../../model/history.ts'
import { COUNT_WINDOW_MS } from '../ports/request-counts.ts'
import type { Pruned, Store } from '../ports/store.ts'
import type { Schema } from '../schema.ts'
import { auditLinesIn } from './audit-lines.ts'

type Limits = Parameters<Store['prune']>[0]

/** States of plans that never became live. A `removed` plan was live, and stays as long as its audit lines. */
const NEVER_LIVE: readonly PlanState[] = ['planned', 'rolled_back', 'expired']

export async function prune(db: Kysely<Schema>, limits: Limits): Promise<Pruned> {
  return db.transaction().execute(async (transaction) => {
    const plans = await prunePlans(transaction, limits)
    await pruneConverges(transaction, limits)
    await pruneCapabilities(transaction, limits)
    const events = await transaction.deleteFrom('events').where('at', '<', limits.eventsBefore).executeTakeFirst()
    await pruneLedger(transaction, limits)
    await pruneHistory(transaction, limits)
    await pruneCounts(transaction, limits)
    const auditLines = await pruneAudit(transaction, limits)
    return { plans, events: Number(events.numDeletedRows), auditLines }
  })
}

/**
 * Foreign keys delete the capabilities of a plan and the journal of a run, and keep a plan whose run begins at the same
 * time.
 */
async function prunePlans(transaction: Kysely<Schema>, { plansBefore, auditBefore, now }: Limits): Promise<number> {
  const exposed = transaction.selectFrom('exposures').select('plan_id')
  const neverLive = transaction
    .selectFrom('plans')
    .select('plan_id')
    .where('created_at', '<', plansBefore)
    .where('expires_at', '<=', now)
    .where('state', 'in', NEVER_LIVE)
    .where('plan_id', 'not in', exposed)
    .where('plan_id', 'not in', transaction.selectFrom('runs').select('plan_id').where('state', '=', 'running'))
  const removed = transaction
    .selectFrom('plans')
    .select('plan_id')
    .where('created_at', '<', auditBefore)
    .where('state', 'in', ['removed', 'replaced', 'released'])
    .where('plan_id', 'not in', exposed)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('runs')
            .select('run_id')
            .whereRef('runs.plan_id', '=', 'plans.plan_id')
            .where((eb) => eb.or([eb('finished_at', 'is', null), eb('finished_at', '>=', auditBefore)])),
        ),
      ),
    )
  let deleted = 0
  for (const plans of [neverLive, removed]) {
    await transaction.deleteFrom('runs').where('plan_id', 'in', plans).execute()
    const { numDeletedRows } = await transaction.deleteFrom('plans').where('plan_id', 'in', plans).executeTakeFirst()
    deleted += Number(numDeletedRows)
  }
  return deleted
}

/** Its plan may be live for years. A blocked one is kept: a person has to decide. */
async function pruneConverges(transaction: Kysely<Schema>, { plansBefore }: Limits): Promise<void> {
  await transaction
    .deleteFrom('runs')
    .where('action', '=', 'converge')
    .where('state', 'in', ['succeeded', 'rolled_back'])
    .where('finished_at', '<', plansBefore)
    .execute()
}

/** Keeps a spent capability as long as a plan, so that a second use is refused as `used` and not as `unknown`. */
async function pruneCapabilities(transaction: Kysely<Schema>, { plansBefore, now }: Limits): Promise<void> {
  await transaction
    .deleteFrom('capabilities')
    .where('issued_at', '<', plansBefore)
    .where((eb) => eb.or([eb('used_at', 'is not', null), eb('expires_at', '<=', now)]))
    .execute()
}

/** Longer than the window of any authority's rate limit. */
const LEDGER_MS = 60 * 86_400_000

async function pruneLedger(transaction: Kysely<Schema>, { now }: Limits): Promise<void> {
  await transaction
    .deleteFrom('ledger')
    .where('at', '<', now - LEDGER_MS)
    .execute()
}

/** A window that ends later than one that begins now was begun by a clock that was ahead. */
async function pruneCounts(transaction: Kysely<Schema>, { now }: Limits): Promise<void> {
  await transaction
    .deleteFrom('request_counts')
    .where((eb) => eb.or([eb('window_end', '<=', now), eb('window_end', '>', now + COUNT_WINDOW_MS)]))
    .execute()
}

async function pruneHistory(transaction: Kysely<Schema>, { now }: Limits): Promise<void> {
  for (const [unit, first] of Object.entries(oldestSlots(now))) {
    await transaction.deleteFrom('host_history').where('slot', '>=', unit).where('slot', '<', first).execute()
  }
}

/** Deletes lines from the beginning of the chain and appends a line that records where the chain now begins. */
async function pruneAudit(transaction: Kysely<Schema>, { auditBefore, now }: Limits): Promise<number> {
  const last = await lastToDelete(transaction, auditBefore)
  if (!last) return 0
  const { numDeletedRows } = await transaction
    .deleteFrom('audit_lines')
    .where('seq', '<=', last.throughSeq)
    .executeTakeFirst()
  // No row was deleted when another instance pruned the same lines at the same time.
  if (numDeletedRows > 0n) await auditLinesIn(transaction).appendAudit(pruneEntry(last, now))
  return Number(numDeletedRows)
}

/**
 * The last line before the first line that must stay. Clocks may step back, so lines before it are deleted whatever
 * their times.
 */
async function lastToDelete(transaction: Kysely<Schema>, auditBefore: number): Promise<PruneFacts | undefined> {
  const newestPruneLine = transaction
    .selectFrom('audit_lines')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .where('action', '=', 'prune')
  const { firstToKeep } = await transaction
    .selectFrom('audit_lines')
    .select((eb) => eb.fn.min('seq').as('firstToKeep'))
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
    .where('seq', '<', firstToKeep)
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
