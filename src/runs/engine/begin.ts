import { randomBytes } from 'node:crypto'
import { Problem, type ProblemMembers } from '../../model/errors.ts'
import { PLAN_STATES, type Plan, type PlanState } from '../../model/exposure.ts'
import {
  hostLease,
  hostOfLease,
  NOBODY,
  type Origin,
  type Run,
  type RunAction,
  type RunTask,
  runHolder,
  runOfHolder,
} from '../../model/run.ts'
import type { Exposure, ExposureStore } from '../../store/ports/exposures.ts'
import type { Lease, LeaseStore } from '../../store/ports/leases.ts'
import type { PlanStore } from '../../store/ports/plans.ts'
import type { RunStore } from '../../store/ports/runs.ts'

/** A run that has begun, to be executed under its leases. */
export interface Carried {
  readonly plan: Plan
  readonly run: Run
  /**
   * The leases of all hosts that the run changes, that of its own host first. Only the first is renewed while the run works. The others
   * gave the run its fences; when they have run out, the claims of the run keep others away, and the edges refuse lower fences.
   */
  readonly leases: readonly Lease[]
  readonly task: RunTask
}

export interface Beginning {
  readonly action: RunAction
  readonly plan: Plan
  readonly task?: RunTask | undefined
  /** Further exposures that a renewal or a converge changes. Those that another run changes at this moment are left out. */
  readonly members?: readonly Pick<Exposure, 'host' | 'planId'>[]
  /** Hosts without an exposure that a converge takes off an edge. Those of another run are left out. */
  readonly orphans?: readonly string[]
  /** The blocked run whose claims pass to this one, whatever the state of the plan is. */
  readonly takesOver?: Run
  readonly origin: Origin
  /** The run is for an instance that reaches the edge: it begins without a holder, and its leases are free. */
  readonly handsOver?: boolean
}

/** Who begins the run, and when. */
interface Beginner {
  readonly instance: string
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
 * The first transaction of every run, after the caller's right was checked: moves the plan, takes the host's lease, claims the
 * exposure, writes the intent.
 */
export async function begin(beginning: Beginning & Beginner, session: BeginSession): Promise<Carried> {
  const { action, plan, takesOver, handsOver = false, origin, at } = beginning
  const holder = handsOver ? NOBODY : beginning.instance
  const task: RunTask = { ...beginning.task, ...(handsOver && { handedOver: true }) }
  const { planId, host } = plan
  if (!takesOver) await assertState(action, plan, session)
  const runId = newRunId()
  const byHost = await takeHosts(beginning, runHolder(holder, runId), session)
  const lease = byHost.get(host)
  if (!lease) throw await busyHost(host, session, at)
  const { fence } = lease
  const run: Run = { runId, planId, host, action, state: 'running', holder, fence, ...origin, startedAt: at }
  if (takesOver) await session.passClaims(takesOver.runId, runId)
  else await claimAll(beginning, run, byHost, session)
  const leases = [lease, ...[...byHost.values()].filter((further) => further !== lease)]
  await session.insertRun(run)
  await session.appendJournal({ runId, at, step: 'run', mark: 'intent', image: task }, fence)
  if (!handsOver) return { plan, run, leases, task }
  // Its claims keep other runs away until an instance takes it up.
  await session.releaseLeases(leases)
  return { plan, run, leases: [], task }
}

/** Takes the leases of all hosts of the run. Those of further hosts may be missing, but a run that takes over another needs them all. */
async function takeHosts(
  { plan, members = [], orphans = [], takesOver, leaseMs, at }: Beginning & Beginner,
  holder: string,
  session: BeginSession,
): Promise<Map<string, Lease>> {
  const changed = takesOver ? await session.exposuresOf(takesOver.runId) : members
  const hosts = [...new Set([plan.host, ...changed.map(({ host }) => host), ...orphans])]
  const taken = await session.takeLeases(hosts.map(hostLease), holder, at, leaseMs)
  const byHost = new Map(taken.map((lease) => [hostOfLease(lease.name), lease]))
  const busyOne = takesOver && hosts.find((host) => !byHost.has(host))
  if (busyOne !== undefined) throw await busyHost(busyOne, session, at)
  return byHost
}

/** Claims the exposures of the run. Releases the leases of further hosts that it cannot claim, and takes them out of `byHost`. */
async function claimAll(
  { plan, members = [], orphans = [], at }: Beginning & Beginner,
  run: Run,
  byHost: Map<string, Lease>,
  session: BeginSession,
): Promise<void> {
  const { host, runId } = run
  const lease = byHost.get(host)
  await claimHost(plan, run, session, at)
  const free = members.flatMap(({ host: member, planId: holds }) => {
    const further = member === host ? undefined : byHost.get(member)
    return further ? [{ host: member, planId: holds, fence: further.fence }] : []
  })
  const claims = await session.claimExposures(free, runId)
  const refused = free.flatMap(({ host: member }) => (claims.has(member) ? [] : (byHost.get(member) ?? [])))
  for (const { name } of refused) byHost.delete(hostOfLease(name))
  await session.releaseLeases(refused)
  for (const orphan of orphans) {
    const further = byHost.get(orphan)
    // It may have been exposed again since it was found on the edge.
    if (!further || further === lease || !(await session.findExposure(orphan))) continue
    byHost.delete(orphan)
    await session.releaseLeases([further])
  }
}

const newRunId = (): string => `run_${randomBytes(13).toString('hex')}`

/** Refuses an action on a plan that is not in the right state for it. */
export async function assertState(action: RunAction, plan: Plan, session: PlanStore & RunStore): Promise<void> {
  const { planId } = plan
  const to = UNDER_WAY[action]
  if (to && (await session.movePlan(planId, FROM[action], to))) return
  const state = (await session.findPlan(planId))?.state ?? plan.state
  if (!to && FROM[action].includes(state)) return
  const run = state === 'applying' || state === 'removing' ? (await session.runsOf(planId)).at(-1) : undefined
  throw wrongState(action, { planId, state }, run)
}

/** Refuses a state from which the action never begins. The transaction of `begin` judges the others. */
export function assertMayBegin(action: RunAction, plan: Pick<Plan, 'planId' | 'state'>): void {
  const isUnderWay = plan.state === 'applying' || plan.state === 'removing'
  if (!isUnderWay && !FROM[action].includes(plan.state)) throw wrongState(action, plan, undefined)
}

async function claimHost(plan: Plan, run: Run, session: BeginSession, at: number): Promise<void> {
  const { action, host, planId, fence, runId } = run
  if (action === 'apply') {
    if (await session.insertExposure({ host, planId, state: 'applying', fence, since: at, runId })) return
    const other = await session.findExposure(host)
    throw new Problem('dns_name_taken', `${host} is exposed by another plan.`, {
      types: [],
      ...(other && { holder: { planId: other.planId } }),
    })
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
  return exposure?.state === 'blocked' ? blocked(exposure.planId) : busy(host, run)
}

/** The refusal while another run holds the lease of a host. */
async function busyHost(host: string, session: LeaseStore & RunStore, at: number): Promise<Problem> {
  const lease = await session.findLease(hostLease(host), at)
  return busy(host, lease && (await session.findRun(runOfHolder(lease.holder))))
}

/** Most runs end within seconds; one that waits for a certificate authority may be asked about more than once. */
const RETRY_AFTER_SECONDS = 5

const busy = (host: string, run: Run | undefined): Problem =>
  new Problem('plan_busy', `Another run for ${host} is under way.`, otherRun(run))

/** Which run is in the way, for internal callers, and when to try again. */
export const otherRun = (run: Run | undefined): ProblemMembers => ({
  retryAfter: RETRY_AFTER_SECONDS,
  ...(run && {
    holder: { planId: run.planId, action: run.action, startedAt: new Date(run.startedAt).toISOString() },
  }),
})

const blocked = (planId: string): Problem =>
  new Problem('plan_busy', `Plan ${planId} is blocked: its changes could not be undone.`, {
    nextAction: `Run drawbridge resolve ${planId} --config FILE on the server. The policy tells FILE as configFile to internal callers.`,
  })

/** What an action needs an applied plan for, in the words of a refusal. */
const ONLY_APPLIED: Partial<Record<RunAction, string>> = {
  remove: 'can be removed',
  repair: 'can be repaired',
  accept: 'can be accepted',
  renew: 'has a certificate in use',
}

function wrongState(
  action: RunAction,
  { planId, state }: Pick<Plan, 'planId' | 'state'>,
  run: Run | undefined,
): Problem {
  if (state === 'applying' || state === 'removing')
    return new Problem('plan_busy', `The plan is ${state}.`, otherRun(run))
  if (state === 'blocked') return blocked(planId)
  const what = ONLY_APPLIED[action]
  if (what) return new Problem('plan_not_applied', `The plan is ${state}; only an applied plan ${what}.`)
  if (state === 'applied') return new Problem('plan_already_applied', 'The plan is applied already.')
  return new Problem('plan_stale', 'The plan was applied and removed.', {
    nextAction: 'Make a new one with POST /api/deploy/plan.',
  })
}
