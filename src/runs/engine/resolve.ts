import { Problem } from '../../model/errors.ts'
import type { Plan } from '../../model/exposure.ts'
import { BY_CONSOLE, isLeftOpen, type JournalEntry, type Run, type RunTask, type StepName } from '../../model/run.ts'
import type { Store, StoreSession } from '../../store/ports/store.ts'
import type { Beginning, Carried } from './begin.ts'
import type { RunResult } from './ending.ts'
import { type Runs, taskIn } from './runs.ts'

export interface ResolveParts {
  readonly store: Store
  readonly runs: Runs
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
    const blocked = await blockedRun(session, planId)
    const old = await session.readJournal(blocked.runId, 0)
    // No instance waits for the end of this run.
    const { handedOver: _, ...task } = taskIn(old)
    const plan = await planOf(planId, session)
    const beginning = { action: blocked.action, plan, takesOver: blocked, origin: BY_CONSOLE }
    const takeOver = (told: RunTask) => take(planId, { ...beginning, task: told }, runs, session)
    if (isLeftOpen(old)) return takeOver(await renewAgain(blocked, task, session))
    const taken = await takeOver(task)
    // The new run's journal takes over the old entries: after a crash it is all that recovery reads.
    const { runId, fence } = taken.run
    for (const entry of old.filter(({ step }) => step !== 'run'))
      await session.appendJournal({ ...entry, runId }, fence)
    return { ...taken, entries: await session.readJournal(runId, 0) }
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
    const still = await blockedRun(session, planId)
    if (still.runId !== blocked.runId) throw resolvedMeanwhile(planId)
    const exposed = by === 'accept' ? undefined : await session.findExposure(still.host)
    const plan = await planOf(exposed?.planId ?? planId, session)
    const task = { resolves: still.runId, ...(steps && { steps, overwrite: true }) }
    const taken = await take(planId, { action: by, plan, task, takesOver: still, origin: BY_CONSOLE }, runs, session)
    if (still.action === 'renew' && taken.leases.length > 1)
      throw new Problem('plan_busy', `The blocked renewal of ${still.host} has changed other hosts, too.`, {
        nextAction: `Finish it with drawbridge resolve ${planId} --config FILE on the server.`,
      })
    return taken
  })
  return runs.start(begun)
}

/**
 * Begins the run that takes over a blocked one. On PostgreSQL a transaction sees what others commit while it waits for the lease, so under
 * the lease it looks again whether the run is still to be resolved.
 */
async function take(planId: string, beginning: Beginning, runs: Runs, session: StoreSession): Promise<Carried> {
  const taken = await runs.begin(beginning, session)
  const plan = await session.findPlan(planId)
  const claimedBy = plan && (await session.findExposure(plan.host))?.runId
  if (plan?.state === 'blocked' && (claimedBy ?? taken.run.runId) === taken.run.runId) return taken
  throw resolvedMeanwhile(planId)
}

const resolvedMeanwhile = (planId: string): Problem =>
  new Problem('plan_busy', `Another call has resolved plan ${planId} at this moment. Nothing was changed.`, {
    nextAction: 'See how that ended with GET /api/deploy/plans/{planId}.',
  })

/** The plan by which the host of a blocked run is exposed: that of an update is the former one. */
async function servedBefore({ host, planId, runId }: Run, by: Decision, store: Store): Promise<Plan> {
  if (!isLeftOpen(await store.readJournal(runId, 0)))
    throw new Problem('plan_busy', `Plan ${planId} was not blocked by a restore, so its own journal undoes it.`, {
      nextAction: `Finish it with drawbridge resolve ${planId} --config FILE on the server.`,
    })
  const exposure = await store.findExposure(host)
  const plan = await planOf(exposure?.planId ?? planId, store)
  if (by === 'remove' || exposure?.receipt) return plan
  throw new Problem('plan_busy', `${host} was not served before the run, so there is nothing to repair.`, {
    nextAction: `Run drawbridge resolve ${planId} --config FILE with --remove or --accept.`,
  })
}

async function planOf(planId: string, store: Pick<StoreSession, 'findPlan'>): Promise<Plan> {
  const plan = await store.findPlan(planId)
  if (!plan) throw new Problem('plan_not_found', 'No plan has this id.')
  return plan
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
  throw new Problem(
    'plan_busy',
    isUnderWay
      ? `A run of plan ${planId} is under way. A service that reaches the edges finishes it.`
      : `Plan ${planId} is not blocked: there is nothing to resolve.`,
  )
}
