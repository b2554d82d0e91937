import { hostLease, type Run, runHolder } from '../../model/run.ts'
import type { Log } from '../../runtime/log.ts'
import type { LeaseStore } from '../../store/ports/leases.ts'
import type { PlanStore } from '../../store/ports/plans.ts'
import type { RunStore } from '../../store/ports/runs.ts'
import type { RunResult, Runs } from './runs.ts'
import { RetryLater } from './saga.ts'

interface RecoverParts {
  readonly store: RunStore & LeaseStore & Pick<PlanStore, 'findPlan'>
  readonly runs: Runs
  readonly instance: string
  readonly log: Log
  readonly now: () => number
}

/**
 * Brings every run that began before then, and that nobody carries out any more, to its end, all at the same time: one
 * that cannot end yet keeps no other one waiting. Another instance's is left alone while its lease lives.
 */
export async function recover(parts: RecoverParts, begunBefore = Number.POSITIVE_INFINITY): Promise<void> {
  const left = (await parts.store.unfinishedRuns()).filter(
    ({ runId, startedAt }) => startedAt < begunBefore && !parts.runs.isUnderWay(runId),
  )
  await Promise.all(left.map((run) => recoverRun(run, parts).catch((error: unknown) => tell(error, run, parts.log))))
}

async function recoverRun(run: Run, { store, runs, instance, log, now }: RecoverParts): Promise<RunResult | undefined> {
  const lease = await store.takeLease(hostLease(run.host), runHolder(instance, run.runId), now(), runs.leaseMs)
  if (!lease) return undefined
  const plan = await store.findPlan(run.planId)
  if (!plan || !(await store.adoptRun(run.runId, instance, lease.fence))) {
    await store.releaseLease(lease)
    return undefined
  }
  log.warn({ runId: run.runId, host: run.host, action: run.action }, 'A run was left behind; it is brought to its end')
  const entries = await store.readJournal(run.runId, 0)
  return runs.resume({ plan, run: { ...run, holder: instance, fence: lease.fence }, lease, entries, patient: true })
}

function tell(error: unknown, { runId, host, action }: Run, log: Log): void {
  const sentence = error instanceof RetryLater ? error.message : 'A run that was left behind could not be taken up'
  log.error({ err: error, runId, host, action }, `${sentence} It is tried again.`)
}
