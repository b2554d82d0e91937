import { hostLease, type Run, runHolder } from '../../model/run.ts'
import type { Log } from '../../runtime/log.ts'
import type { ExposureStore } from '../../store/ports/exposures.ts'
import type { Lease, LeaseStore } from '../../store/ports/leases.ts'
import type { PlanStore } from '../../store/ports/plans.ts'
import type { RunStore } from '../../store/ports/runs.ts'
import { type RunResult, type Runs, taskIn } from './runs.ts'
import { RetryLater } from './saga.ts'

interface RecoverParts {
  readonly store: RunStore & LeaseStore & Pick<PlanStore, 'findPlan'> & Pick<ExposureStore, 'exposuresOf'>
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
  const { runId } = run
  const hosts = new Set([run.host, ...(await store.exposuresOf(runId)).map(({ host }) => host)])
  const leases: Lease[] = []
  for (const host of hosts) {
    const lease = await store.takeLease(hostLease(host), runHolder(instance, runId), now(), runs.leaseMs)
    if (lease) leases.push(lease)
  }
  const [first] = leases
  const plan = await store.findPlan(run.planId)
  // The holder may still live while one of its leases does.
  if (!plan || leases.length < hosts.size || !first || !(await store.adoptRun(runId, instance, first.fence))) {
    for (const lease of leases) await store.releaseLease(lease)
    return undefined
  }
  log.warn({ event: 'run_recovered', runId, host: run.host, action: run.action }, 'Run was interrupted; finishing it')
  const entries = await store.readJournal(runId, 0)
  const taken = { ...run, holder: instance, fence: first.fence }
  return runs.resume({ plan, run: taken, leases, task: taskIn(entries), entries, patient: true })
}

function report(error: unknown, { runId, host, action }: Run, log: Log): void {
  const sentence = error instanceof RetryLater ? error.message : 'Recovery of an interrupted run failed.'
  log.error({ event: 'recovery_failed', err: error, runId, host, action }, `${sentence} Retrying automatically.`)
}
