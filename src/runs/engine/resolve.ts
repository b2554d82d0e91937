import { Problem } from '../../model/errors.ts'
import type { Plan } from '../../model/exposure.ts'
import {
  BY_CONSOLE,
  hostLease,
  isLeftOpen,
  type JournalEntry,
  type Run,
  type RunAction,
  type RunTask,
  runHolder,
  type StepName,
} from '../../model/run.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { Lease } from '../../store/ports/leases.ts'
import type { Store, StoreSession } from '../../store/ports/store.ts'
import { busyHost, newRunId } from './begin.ts'
import type { RunResult } from './ending.ts'
import { type Carried, type Runs, taskIn } from './runs.ts'

export interface ResolveParts {
  readonly store: Store
  readonly runs: Runs
  readonly instance: string
  readonly clock: Clock
  /** The steps that a repair of a plan has now. */
  readonly stepsToRepair: (plan: Plan) => Promise<readonly StepName[]>
}

/**
 * How a person ends a blocked run. `undo` finishes its rollback by its journal. The others begin anew from what stands: `accept` leaves
 * the host as it is and not ours, `repair` serves it as it was before the run, `remove` takes it off the air.
 */
export type Resolution = 'undo' | Decision
type Decision = 'accept' | 'repair' | 'remove'

/** The steps of a blocked plan's run that were begun and not undone, newest first. */
export async function leftOvers(store: Store, planId: string): Promise<readonly JournalEntry[]> {
  const run = await blockedRun(store, planId)
  const entries = await store.readJournal(run.runId, 0)
  const steps = [...new Set(entries.map(({ step }) => step))].filter((step) => step !== 'run' || isLeftOpen(entries))
  return steps
    .toReversed()
    .filter((step) => !entries.some((entry) => entry.step === step && entry.mark === 'undone'))
    .flatMap((step) => entries.findLast((entry) => entry.step === step) ?? [])
}

/** Ends a blocked run by a run of its own. */
export const resolve = (planId: string, by: Resolution, parts: ResolveParts): Promise<RunResult> =>
  by === 'undo' ? finishRollback(planId, parts) : decide(planId, by, parts)

/** Undoes what the blocked run could not undo. */
async function finishRollback(planId: string, parts: ResolveParts): Promise<RunResult> {
  const { store, runs } = parts
  // Everything is read in the transaction that begins the run: another process may resolve the same plan at this moment.
  const begun = await store.transaction(async (session) => {
    const { blocked, ...taken } = await takeOver(planId, undefined, parts, session)
    const old = await session.readJournal(blocked.runId, 0)
    if (isLeftOpen(old)) return anew(await renewAgain(blocked, taskIn(old), session), taken, session)
    // The new run's journal takes over the old entries: after a crash it is all that recovery reads.
    const { runId, fence } = taken.run
    const entries: JournalEntry[] = []
    for (const entry of old.filter(({ step, mark }) => step !== 'run' || mark === 'intent'))
      entries.push(await session.appendJournal({ ...entry, runId }, fence))
    return { ...taken, entries, task: taskIn(entries) }
  })
  return 'entries' in begun ? runs.resume({ ...begun, patient: false }) : runs.start(begun)
}

/**
 * A restored store does not know how far a run came that was under way in its backup, so to undo what its journal has would leave the
 * rest. A renewal takes nothing off the air: it is begun again, and uses the newest certificate. All others are left to a person.
 */
async function renewAgain(blocked: Run, task: RunTask, session: StoreSession): Promise<RunTask> {
  const { planId, host, action, runId } = blocked
  if (action === 'renew') return { ...task, resolves: runId }
  const isServedBefore = (await session.findExposure(host))?.receipt !== undefined
  const repair = isServedBefore ? '--repair serves it as before the run, ' : ''
  throw new Problem(
    'plan_busy',
    `The backup was made while the ${action} of ${host} was not settled, so nobody knows what is left to undo. Nothing was changed.`,
    {
      nextAction:
        `See what stands with drawbridge diagnose ${host}, then run drawbridge resolve ${planId} --config FILE with one of: ` +
        `${repair}--remove takes the host off the air, --accept leaves it as it stands and not managed.`,
    },
  )
}

/** Ends a blocked run by what a person has decided. If that fails, the run is blocked as before. */
async function decide(planId: string, by: Decision, parts: ResolveParts): Promise<RunResult> {
  const { store, runs } = parts
  const blocked = await blockedRun(store, planId)
  const served = by === 'accept' ? undefined : await servedBefore(blocked, by, store)
  const steps = by === 'repair' && served ? await parts.stepsToRepair(served) : undefined
  const begun = await store.transaction(async (session) => {
    const { blocked: still, ...taken } = await takeOver(planId, by, parts, session)
    if (still.action === 'renew' && taken.leases.length > 1)
      throw new Problem('plan_busy', `The blocked renewal of ${still.host} has changed other hosts, too.`, {
        nextAction: `Finish it with drawbridge resolve ${planId} --config FILE on the server.`,
      })
    return anew({ resolves: still.runId, ...(steps && { steps, overwrite: true }) }, taken, session)
  })
  return runs.start(begun)
}

/** The plan by which the host of a blocked run is exposed: that of an update is the former one. */
async function servedBefore({ host, planId, runId }: Run, by: Decision, store: Store): Promise<Plan> {
  if (!isLeftOpen(await store.readJournal(runId, 0)))
    throw new Problem('plan_busy', `Plan ${planId} was not blocked by a restore, so its own journal undoes it.`, {
      nextAction: `Finish it with drawbridge resolve ${planId} --config FILE on the server.`,
    })
  const exposure = await store.findExposure(host)
  const plan = await store.findPlan(exposure?.planId ?? planId)
  if (!plan) throw new Problem('plan_not_found', 'No plan has this id.')
  if (by === 'remove' || exposure?.receipt) return plan
  throw new Problem('plan_busy', `${host} was not served before the run, so there is nothing to repair.`, {
    nextAction: `Run drawbridge resolve ${planId} --config FILE with --remove or --accept.`,
  })
}

async function anew(task: RunTask, taken: Omit<Taken, 'blocked'>, session: StoreSession): Promise<Carried> {
  const { runId, fence, startedAt: at } = taken.run
  await session.appendJournal({ runId, at, step: 'run', mark: 'intent', image: task }, fence)
  return { ...taken, task }
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
  const exposed = action === 'repair' || action === 'remove' ? await session.findExposure(blocked.host) : undefined
  const plan = await session.findPlan(exposed?.planId ?? planId)
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
    planId: plan.planId,
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
