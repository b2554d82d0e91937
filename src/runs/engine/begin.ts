import { randomBytes } from 'node:crypto'
import { Problem } from '../../model/errors.ts'
import type { Plan, PlanState } from '../../model/exposure.ts'
import { hostLease, type Origin, type Run, type RunAction, runHolder } from '../../model/run.ts'
import type { ExposureStore } from '../../store/ports/exposures.ts'
import type { Lease, LeaseStore } from '../../store/ports/leases.ts'
import type { PlanStore } from '../../store/ports/plans.ts'
import type { RunStore } from '../../store/ports/runs.ts'

export interface Begun {
  readonly run: Run
  readonly lease: Lease
}

interface Beginning {
  readonly action: RunAction
  readonly plan: Plan
  readonly origin: Origin
  readonly instance: string
  readonly leaseMs: number
  readonly at: number
}

const FROM: Record<RunAction, readonly PlanState[]> = {
  apply: ['planned', 'rolled_back'],
  update: ['planned', 'rolled_back'],
  remove: ['applied'],
}
const UNDER_WAY: Record<RunAction, PlanState> = { apply: 'applying', update: 'applying', remove: 'removing' }

/** The transaction in which a run begins. */
export type BeginSession = PlanStore & RunStore & ExposureStore & LeaseStore

/** The first transaction of a run, after the caller's right was checked: moves the plan, takes the host's lease, writes the intent. */
export async function begin(beginning: Beginning, session: BeginSession): Promise<Begun> {
  const { action, plan, origin, instance, leaseMs, at } = beginning
  const { planId, host } = plan
  const moved = await session.movePlan(planId, FROM[action], UNDER_WAY[action])
  if (!moved) throw wrongState(action, (await session.findPlan(planId))?.state ?? plan.state)
  const runId = `run_${randomBytes(13).toString('hex')}`
  const lease = await session.takeLease(hostLease(host), runHolder(instance, runId), at, leaseMs)
  if (!lease) throw new Problem('plan_busy', `Another run for ${host} is under way.`)
  const run: Run = {
    runId,
    planId,
    host,
    action,
    state: 'running',
    holder: instance,
    fence: lease.fence,
    ...origin,
    startedAt: at,
  }
  await claimHost(plan, run, session, at)
  await session.insertRun(run)
  await session.appendJournal({ runId, at, step: 'run', mark: 'intent' }, lease.fence)
  return { run, lease }
}

async function claimHost(plan: Plan, run: Run, session: BeginSession, at: number): Promise<void> {
  const { action, host, planId, fence } = run
  if (action === 'update') return claimFormer(plan, fence, session, at)
  if (action === 'remove') {
    const exposure = await session.findExposure(host)
    if (exposure?.state === 'blocked') throw blockedProblem()
    await session.moveExposure(host, planId, fence, 'removing', at)
    return
  }
  if (await session.insertExposure({ host, planId, state: 'applying', fence, since: at })) return
  throw new Problem('dns_name_taken', `${host} is exposed by another plan.`, { types: [] })
}

/** The exposure stays with the former plan until the update has succeeded. */
async function claimFormer({ host, request }: Plan, fence: number, session: BeginSession, at: number): Promise<void> {
  const former = request.replaces ?? ''
  const exposure = await session.findExposure(host)
  if (exposure?.planId === former && exposure.state === 'blocked') throw blockedProblem()
  if (exposure?.planId !== former || exposure.state !== 'applied')
    throw new Problem('plan_stale', `Plan ${former}, which this plan replaces, is not applied any more.`, {
      moved: ['the plan that would be replaced'],
      nextAction: 'Make a new plan with POST /api/deploy/plan.',
    })
  await session.moveExposure(host, former, fence, 'applying', at)
}

const blockedProblem = (): Problem =>
  new Problem('plan_busy', 'The plan is blocked: its changes could not be undone.', {
    nextAction: 'Run drawbridge resolve with the plan id on the server.',
  })

function wrongState(action: RunAction, state: PlanState): Problem {
  if (state === 'applying' || state === 'removing') return new Problem('plan_busy', `The plan is ${state}.`)
  if (state === 'blocked') return blockedProblem()
  if (action === 'remove')
    return new Problem('plan_not_applied', `The plan is ${state}; only an applied plan can be removed.`)
  if (state === 'applied') return new Problem('plan_already_applied', 'The plan is applied already.')
  return new Problem('plan_stale', 'The plan was applied and removed.', {
    nextAction: 'Make a new one with POST /api/deploy/plan.',
  })
}
