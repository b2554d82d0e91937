import { randomBytes } from 'node:crypto'
import { Problem } from '../../model/errors.ts'
import { PLAN_STATES, type Plan, type PlanState } from '../../model/exposure.ts'
import { hostLease, NOBODY, type Origin, type Run, type RunAction, type RunTask, runHolder } from '../../model/run.ts'
import type { Exposure, ExposureStore } from '../../store/ports/exposures.ts'
import type { Lease, LeaseStore } from '../../store/ports/leases.ts'
import type { PlanStore } from '../../store/ports/plans.ts'
import type { RunStore } from '../../store/ports/runs.ts'

export interface Begun {
  readonly run: Run
  /** The leases of all hosts that the run changes, that of its own host first. */
  readonly leases: readonly Lease[]
  readonly task: RunTask
}

export interface Beginning {
  readonly action: RunAction
  readonly plan: Plan
  readonly task?: RunTask
  /** Further exposures that a renewal or a converge changes. Those that another run changes at this moment are left out. */
  readonly members?: readonly Pick<Exposure, 'host' | 'planId'>[]
  /** Hosts without an exposure that a converge takes off an edge. Those of another run are left out. */
  readonly orphans?: readonly string[]
  readonly origin: Origin
  readonly instance: string
  /** The run is for an instance that reaches the edge: it begins without a holder, and its leases are free. */
  readonly handsOver?: boolean
  readonly leaseMs: number
  readonly at: number
}

const FROM: Record<RunAction, readonly PlanState[]> = {
  apply: ['planned', 'rolled_back'],
  update: ['planned', 'rolled_back'],
  remove: ['applied'],
  repair: ['applied'],
  accept: ['applied'],
  renew: ['applied'],
  converge: PLAN_STATES,
}
/** The state of the plan during the run, where it differs from the state before. */
const UNDER_WAY: Partial<Record<RunAction, PlanState>> = { apply: 'applying', update: 'applying', remove: 'removing' }

/** The transaction in which a run begins. */
export type BeginSession = PlanStore & RunStore & ExposureStore & LeaseStore

/**
 * The first transaction of a run, after the caller's right was checked: moves the plan, takes the host's lease, claims the
 * exposure, writes the intent.
 */
export async function begin(beginning: Beginning, session: BeginSession): Promise<Begun> {
  const { action, plan, handsOver = false, origin, leaseMs, at } = beginning
  const holder = handsOver ? NOBODY : beginning.instance
  const task: RunTask = { ...beginning.task, ...(handsOver && { handedOver: true }) }
  const { planId, host } = plan
  await assertState(action, plan, session)
  const runId = newRunId()
  const take = (name: string) => session.takeLease(hostLease(name), runHolder(holder, runId), at, leaseMs)
  const lease = await take(host)
  if (!lease) throw busy(host)
  const { fence } = lease
  const run: Run = { runId, planId, host, action, state: 'running', holder, fence, ...origin, startedAt: at }
  await claimHost(plan, run, session, at)
  const leases = [lease]
  for (const member of beginning.members ?? []) {
    const further = await take(member.host)
    if (!further) continue
    if (await session.claimExposure(member.host, member.planId, runId, further.fence)) leases.push(further)
    else await session.releaseLease(further)
  }
  for (const orphan of beginning.orphans ?? []) {
    const further = orphan === host ? undefined : await take(orphan)
    if (further) leases.push(further)
  }
  await session.insertRun(run)
  await session.appendJournal({ runId, at, step: 'run', mark: 'intent', image: task }, fence)
  if (!handsOver) return { run, leases, task }
  // Its claims keep other runs away until an instance takes it up.
  for (const each of leases) await session.releaseLease(each)
  return { run, leases: [], task }
}

export const newRunId = (): string => `run_${randomBytes(13).toString('hex')}`

/** Refuses an action on a plan that is not in the right state for it. */
export async function assertState(action: RunAction, plan: Plan, session: PlanStore): Promise<void> {
  const { planId } = plan
  const to = UNDER_WAY[action]
  if (to && (await session.movePlan(planId, FROM[action], to))) return
  const state = (await session.findPlan(planId))?.state ?? plan.state
  if (to || !FROM[action].includes(state)) throw wrongState(action, { planId, state })
}

async function claimHost(plan: Plan, run: Run, session: BeginSession, at: number): Promise<void> {
  const { action, host, planId, fence, runId } = run
  if (action === 'apply') {
    if (await session.insertExposure({ host, planId, state: 'applying', fence, since: at, runId })) return
    throw new Problem('dns_name_taken', `${host} is exposed by another plan.`, { types: [] })
  }
  if (action === 'converge' && !(await session.findExposure(host))) return
  const holder = action === 'update' ? (plan.request.replaces ?? '') : planId
  const exposure = await session.findExposure(host)
  if (exposure?.planId === holder && exposure.state === 'blocked') throw await claimed(host, session)
  if (action === 'update' && (exposure?.planId !== holder || exposure.state !== 'applied'))
    throw new Problem('plan_stale', `Plan ${holder}, which this plan replaces, is not applied any more.`, {
      moved: ['the plan that would be replaced'],
      nextAction: 'Make a new plan with POST /api/deploy/plan.',
    })
  if (!(await session.claimExposure(host, holder, runId, fence))) throw await claimed(host, session)
  const state = UNDER_WAY[action]
  if (state) await session.moveExposure(host, holder, fence, state, at)
}

/** A run that is blocked keeps its claims until it is resolved. */
async function claimed(host: string, session: ExposureStore & RunStore): Promise<Problem> {
  const exposure = await session.findExposure(host)
  const run = exposure?.runId === undefined ? undefined : await session.findRun(exposure.runId)
  if (run?.state === 'blocked') return blocked(run.planId)
  return exposure?.state === 'blocked' ? blocked(exposure.planId) : busy(host)
}

export const busy = (host: string): Problem =>
  new Problem('plan_busy', `Another run for ${host} is under way.`, { retryAfter: 5 })

const blocked = (planId: string): Problem =>
  new Problem('plan_busy', `Plan ${planId} is blocked: its changes could not be undone.`, {
    nextAction: `Run drawbridge resolve ${planId} on the server.`,
  })

/** What an action needs an applied plan for, in the words of a refusal. */
const ONLY_APPLIED: Partial<Record<RunAction, string>> = {
  remove: 'can be removed',
  repair: 'can be repaired',
  accept: 'can be accepted',
  renew: 'has a certificate in use',
}

function wrongState(action: RunAction, { planId, state }: Pick<Plan, 'planId' | 'state'>): Problem {
  if (state === 'applying' || state === 'removing')
    return new Problem('plan_busy', `The plan is ${state}.`, { retryAfter: 5 })
  if (state === 'blocked') return blocked(planId)
  const what = ONLY_APPLIED[action]
  if (what) return new Problem('plan_not_applied', `The plan is ${state}; only an applied plan ${what}.`)
  if (state === 'applied') return new Problem('plan_already_applied', 'The plan is applied already.')
  return new Problem('plan_stale', 'The plan was applied and removed.', {
    nextAction: 'Make a new one with POST /api/deploy/plan.',
  })
}
