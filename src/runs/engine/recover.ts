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
 * Finishes every unfinished run that began before `begunBefore` and that no instance executes. All run at the same time, so
 * one that cannot finish yet delays no other. The run of another instance is not touched while its lease lives.
 */
export async function recover(parts: RecoverParts, begunBefore = Number.POSITIVE_INFINITY): Promise<void> {
  const left = (await parts.store.unfinishedRuns()).filter(
    ({ runId, startedAt }) => startedAt < begunBefore && !parts.runs.isUnderWay(runId),
  )
  await Promise.all(left.map((run) => recoverRun(run, parts).catch((error: unknown) => report(error, run, parts.log))))
}

async function recoverRun(run: Run, { store, runs, instance, log, now }: RecoverParts): Promise<RunResult | undefined> {
  const lease = await store.takeLease(hostLease(run.host), runHolder(instance, run.runId), now(), runs.leaseMs)
  if (!lease) return undefined
  const plan = await store.findPlan(run.planId)
  if (!plan || !(await store.adoptRun(run.runId, instance, lease.fence))) {
    await store.releaseLease(lease)
    return undefined
  }
  log.warn(
    { event: 'run_recovered', runId: run.runId, host: run.host, action: run.action },
    'Run was interrupted; finishing it',
  )
  const entries = await store.readJournal(run.runId, 0)
  return runs.resume({ plan, run: { ...run, holder: instance, fence: lease.fence }, lease, entries, patient: true })
}

function report(error: unknown, { runId, host, action }: Run, log: Log): void {
  const sentence = error instanceof RetryLater ? error.message : 'Recovery of an interrupted run failed.'
  log.error({ event: 'recovery_failed', err: error, runId, host, action }, `${sentence} Retrying automatically.`)
}
