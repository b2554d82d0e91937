import type { Log } from '../log.ts'
import { hostLease, type Run, runHolder } from '../model/run.ts'
import type { Store } from '../store/contract.ts'
import { LEASE_MS, type RunResult, type Runs } from './runs.ts'

interface RecoverParts {
  readonly store: Store
  readonly runs: Runs
  readonly instance: string
  readonly log: Log
  readonly now: () => number
}

/** Brings every run that nobody carries out any more to its end. Another instance's is left alone while its lease lives. */
export async function recover(parts: RecoverParts): Promise<readonly RunResult[]> {
  const results: RunResult[] = []
  for (const run of await parts.store.unfinishedRuns()) {
    if (parts.runs.isUnderWay(run.runId)) continue
    const result = await recoverRun(run, parts)
    if (result) results.push(result)
  }
  return results
}

async function recoverRun(run: Run, { store, runs, instance, log, now }: RecoverParts): Promise<RunResult | undefined> {
  const lease = await store.takeLease(hostLease(run.host), runHolder(instance, run.runId), now(), LEASE_MS)
  if (!lease) return undefined
  const plan = await store.findPlan(run.planId)
  if (!plan || !(await store.adoptRun(run.runId, instance, lease.fence))) {
    await store.releaseLease(lease)
    return undefined
  }
  log.warn({ runId: run.runId, host: run.host, action: run.action }, 'A run was left behind; it is brought to its end')
  const entries = await store.readJournal(run.runId, 0)
  return runs.resume(plan, { ...run, holder: instance, fence: lease.fence }, lease, entries)
}
