import { randomBytes } from 'node:crypto'
import { Problem } from '../../model/errors.ts'
import { BY_CONSOLE, hostLease, type JournalEntry, type Run, runHolder } from '../../model/run.ts'
import type { Store, StoreSession } from '../../store/ports/store.ts'
import type { RunResult, Runs } from './runs.ts'

export interface ResolveParts {
  readonly store: Store
  readonly runs: Runs
  readonly instance: string
  readonly now: () => number
}

/** The steps of a blocked plan's run that were begun and not undone, newest first. */
export async function leftOvers(store: Store, planId: string): Promise<readonly JournalEntry[]> {
  const run = await blockedRun(store, planId)
  const entries = await store.readJournal(run.runId, 0)
  const steps = [...new Set(entries.map(({ step }) => step))].filter((step) => step !== 'run')
  return steps
    .toReversed()
    .filter((step) => !entries.some((entry) => entry.step === step && entry.mark === 'undone'))
    .flatMap((step) => entries.findLast((entry) => entry.step === step) ?? [])
}

/** Undoes what the blocked run could not undo, in a run of its own. */
export async function resolve(planId: string, { store, runs, instance, now }: ResolveParts): Promise<RunResult> {
  const runId = `run_${randomBytes(13).toString('hex')}`
  // Everything is read in the transaction that begins the run: another process may resolve the same plan at this moment.
  const begin = async (session: StoreSession) => {
    const blocked = await blockedRun(session, planId)
    const plan = await session.findPlan(planId)
    if (!plan) throw new Problem('plan_not_found', 'No plan has this id.')
    const entries = (await session.readJournal(blocked.runId, 0)).filter(
      ({ step, mark }) => step !== 'run' || mark === 'intent',
    )
    const lease = await session.takeLease(hostLease(plan.host), runHolder(instance, runId), now(), runs.leaseMs)
    if (!lease) throw new Problem('plan_busy', `Another run for ${plan.host} is under way.`)
    const { finishedAt: _end, ...same } = blocked
    const run: Run = {
      ...same,
      runId,
      state: 'running',
      holder: instance,
      fence: lease.fence,
      ...BY_CONSOLE,
      startedAt: now(),
    }
    await session.insertRun(run)
    // The new run's journal takes over the old entries: after a crash it is all that recovery reads.
    const inherited: JournalEntry[] = []
    for (const entry of entries) inherited.push(await session.appendJournal({ ...entry, runId }, lease.fence))
    return { plan, run, lease, entries: inherited }
  }
  const begun = await store.transaction(begin)
  return runs.resume({ ...begun, patient: false })
}

async function blockedRun(store: StoreSession, planId: string): Promise<Run> {
  const run = (await store.runsOf(planId)).at(-1)
  if (run?.state === 'blocked') return run
  throw new Problem('plan_busy', `Plan ${planId} is not blocked: there is nothing to resolve.`)
}
