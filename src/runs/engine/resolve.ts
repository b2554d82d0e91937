import { Problem } from '../../model/errors.ts'
import type { Plan } from '../../model/exposure.ts'
import { BY_CONSOLE, hostLease, type JournalEntry, type Run, type RunAction, runHolder } from '../../model/run.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { Lease } from '../../store/ports/leases.ts'
import type { Store, StoreSession } from '../../store/ports/store.ts'
import { busyHost, newRunId } from './begin.ts'
import type { RunResult } from './ending.ts'
import { type Runs, taskIn } from './runs.ts'

export interface ResolveParts {
  readonly store: Store
  readonly runs: Runs
  readonly instance: string
  readonly clock: Clock
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
export async function resolve(planId: string, parts: ResolveParts): Promise<RunResult> {
  const { store, runs } = parts
  // Everything is read in the transaction that begins the run: another process may resolve the same plan at this moment.
  const begun = await store.transaction(async (session) => {
    const { blocked, ...taken } = await takeOver(planId, undefined, parts, session)
    const old = await session.readJournal(blocked.runId, 0)
    // The new run's journal takes over the old entries: after a crash it is all that recovery reads.
    const { runId, fence } = taken.run
    const entries: JournalEntry[] = []
    for (const entry of old.filter(({ step, mark }) => step !== 'run' || mark === 'intent'))
      entries.push(await session.appendJournal({ ...entry, runId }, fence))
    return { ...taken, entries, task: taskIn(entries) }
  })
  return runs.resume({ ...begun, patient: false })
}

/** Closes the books on a blocked run as it stands: its host is served as it is and is not ours any more. */
export async function acceptBlocked(planId: string, parts: ResolveParts): Promise<RunResult> {
  const begun = await parts.store.transaction(async (session) => {
    const { blocked, ...taken } = await takeOver(planId, 'accept', parts, session)
    if (blocked.action === 'renew' && taken.leases.length > 1)
      throw new Problem('plan_busy', `The blocked renewal of ${blocked.host} has changed other hosts, too.`, {
        nextAction: `Finish it with drawbridge resolve ${planId} --config FILE on the server.`,
      })
    const { runId, fence, startedAt: at } = taken.run
    const task = { resolves: blocked.runId }
    await session.appendJournal({ runId, at, step: 'run', mark: 'intent', image: task }, fence)
    return { ...taken, task }
  })
  return parts.runs.start(begun)
}

interface Taken {
  readonly blocked: Run
  readonly plan: Plan
  readonly run: Run
  readonly leases: readonly Lease[]
}

/** Begins a run that takes over the claims of a blocked one. `action`: undefined for the same as before. */
async function takeOver(
  planId: string,
  action: RunAction | undefined,
  { runs, instance, clock }: ResolveParts,
  session: StoreSession,
): Promise<Taken> {
  const blocked = await blockedRun(session, planId)
  const plan = await session.findPlan(planId)
  if (!plan) throw new Problem('plan_not_found', 'No plan has this id.')
  const runId = newRunId()
  const claims = await session.exposuresOf(blocked.runId)
  const hosts = [...new Set([plan.host, ...claims.map((claim) => claim.host)])]
  const taken = await session.takeLeases(hosts.map(hostLease), runHolder(instance, runId), clock.now(), runs.leaseMs)
  const byName = new Map(taken.map((lease) => [lease.name, lease]))
  const busy = hosts.find((host) => !byName.has(hostLease(host)))
  if (busy !== undefined) throw await busyHost(busy, session, clock.now())
  const leases = hosts.flatMap((host) => byName.get(hostLease(host)) ?? [])
  await session.passClaims(blocked.runId, runId)
  const { finishedAt: _end, ...same } = blocked
  const run: Run = {
    ...same,
    runId,
    action: action ?? blocked.action,
    state: 'running',
    holder: instance,
    fence: leases[0]?.fence ?? 0,
    ...BY_CONSOLE,
    startedAt: clock.now(),
  }
  await session.insertRun(run)
  return { blocked, plan, run, leases }
}

/** The blocked run of a plan: the one that has claimed its exposure. Runs of earlier versions have no claims. */
async function blockedRun(store: StoreSession, planId: string): Promise<Run> {
  const plan = await store.findPlan(planId)
  const claimedBy = plan && (await store.findExposure(plan.host))?.runId
  const runs = await store.runsOf(planId)
  const isUnderWay = runs.some(({ state }) => state === 'running')
  const run =
    claimedBy === undefined ? runs.findLast(({ state }) => state === 'blocked') : await store.findRun(claimedBy)
  if (plan?.state === 'blocked' && run?.state === 'blocked' && !isUnderWay) return run
  throw new Problem('plan_busy', `Plan ${planId} is not blocked: there is nothing to resolve.`)
}
