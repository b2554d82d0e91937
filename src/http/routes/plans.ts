import type { Caller } from '../../authorize/caller.ts'
import type { Difference } from '../../diagnose/drift.ts'
import { Problem } from '../../model/errors.ts'
import type { Plan } from '../../model/exposure.ts'
import type { Check } from '../../model/finding.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { PlanCursor } from '../../store/ports/plans.ts'
import type { Planner } from '../../usecases/planner.ts'
import type { Plans } from '../../usecases/plans.ts'
import type { PlanProgress, RunReport } from '../../usecases/progress.ts'
import type { App } from '../app.ts'
import { isUnhealthy, publicChange, publicCheck, publicRequest } from '../guard/public-view.ts'
import {
  AdoptionRequestBody,
  DriftBody,
  ExposureRequestBody,
  PlanBody,
  PlanIdParams,
  PlanPageBody,
  PlanPageQuery,
} from '../schemas/plan-schemas.ts'
import { FOUND_BY_CHECKS, problems } from '../schemas/problem-schemas.ts'
import type { LastRunBody, RunBody } from '../schemas/run-schemas.ts'
import { tellAge, type Unconfirmed } from './age.ts'

/** Compares an applied plan with the world. */
export type DriftReader = (planId: string) => Promise<readonly Difference[]>

interface PlanParts {
  readonly plans: Plans
  readonly planner: Planner
  readonly drift: DriftReader
  readonly unconfirmedMs: Unconfirmed
  readonly progress: Pick<PlanProgress, 'announce'>
  readonly clock: Clock
}

export function planRoutes(app: App, { plans, planner, drift, unconfirmedMs, progress, clock }: PlanParts): void {
  createPlanRoute(app, planner, progress, clock)
  planAdoptionRoute(app, planner, progress)
  readPlanRoute(app, plans, unconfirmedMs)
  driftRoute(app, drift)
  listPlansRoute(app, plans, unconfirmedMs)
}

function createPlanRoute(app: App, planner: Planner, progress: PlanParts['progress'], clock: Clock): void {
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  app.post(
    '/api/deploy/plan',
    {
      config: { budget: 'plan', audited: 'plan' },
      schema: {
        operationId: 'createPlan',
        tags: ['deploy'],
        summary: 'Create a plan: check backend, name, certificate and edge; changes nothing',
        body: ExposureRequestBody,
        response: {
          201: PlanBody,
          ...problems(
            'invalid_request',
            'payload_too_large',
            'internal_network_required',
            ...FOUND_BY_CHECKS,
            'plan_not_found',
            'plan_not_applied',
            'plan_stale',
            'lease_not_longer',
          ),
        },
      },
    },
    async (request, reply) => {
      const plan = await withEqualDelay(request.caller, closing.signal, clock, () =>
        planner.plan(request.body, request.caller),
      )
      progress.announce(plan.planId)
      return reply
        .code(201)
        .header('location', `/api/deploy/plans/${plan.planId}`)
        .send(planBody(plan, request.caller.network, 'own'))
    },
  )
}

function planAdoptionRoute(app: App, planner: Planner, progress: PlanParts['progress']): void {
  app.post(
    '/api/deploy/plan/adopt',
    {
      config: { budget: 'plan', audited: 'plan', internalOnly: true },
      schema: {
        operationId: 'planAdoption',
        tags: ['deploy'],
        summary: 'Plan to take a hand-written site under management; changes nothing (internal network only)',
        body: AdoptionRequestBody,
        response: {
          201: PlanBody,
          ...problems(
            'invalid_request',
            'payload_too_large',
            'internal_network_required',
            'adopt_not_allowed',
            'site_not_adoptable',
            'loss_not_accepted',
            'host_not_found',
            ...FOUND_BY_CHECKS,
            'plan_stale',
          ),
        },
      },
    },
    async (request, reply) => {
      const plan = await planner.planAdoption(request.body, request.caller)
      progress.announce(plan.planId)
      return reply
        .code(201)
        .header('location', `/api/deploy/plans/${plan.planId}`)
        .send(planBody(plan, request.caller.network, 'own'))
    },
  )
}

function readPlanRoute(app: App, plans: Plans, unconfirmedMs: Unconfirmed): void {
  app.get(
    '/api/deploy/plans/:planId',
    {
      schema: {
        operationId: 'getPlan',
        tags: ['deploy'],
        summary: 'Read a plan by its id',
        params: PlanIdParams,
        response: { 200: PlanBody, ...problems('plan_not_found') },
      },
    },
    async (request, reply) => {
      const { planId } = request.params
      const { network } = request.caller
      const isInside = network === 'internal'
      const [plan, runs] = await Promise.all([plans.read(planId), isInside ? plans.runsOf(planId) : []])
      tellAge(reply, unconfirmedMs())
      const last = runs.at(-1)
      return {
        ...planBody(plan, network),
        ...(isInside && makerOf(plan)),
        ...(last && { lastRun: lastRunBody(last), runs: runs.map(runBody) }),
      }
    },
  )
}

function driftRoute(app: App, drift: DriftReader): void {
  app.get(
    '/api/deploy/plans/:planId/drift',
    {
      config: { internalOnly: true },
      schema: {
        operationId: 'getDrift',
        tags: ['deploy'],
        summary: 'Compare an applied plan with files, zone and certificate (internal network only)',
        params: PlanIdParams,
        response: {
          200: DriftBody,
          ...problems(
            'internal_network_required',
            'plan_not_found',
            'plan_not_applied',
            'zone_not_managed',
            'dns_unavailable',
          ),
        },
      },
    },
    async ({ params }) => ({ planId: params.planId, differences: [...(await drift(params.planId))] }),
  )
}

function listPlansRoute(app: App, plans: Plans, unconfirmedMs: Unconfirmed): void {
  app.get(
    '/api/deploy/plans',
    {
      config: { internalOnly: true },
      schema: {
        operationId: 'listPlans',
        tags: ['deploy'],
        summary: 'List recent plans, newest first (internal network only)',
        querystring: PlanPageQuery,
        response: { 200: PlanPageBody, ...problems('invalid_request', 'internal_network_required') },
      },
    },
    async ({ query }, reply) => {
      const limit = Number(query.limit ?? 50)
      const found = await plans.list(limit + 1, query.cursor === undefined ? undefined : parseCursor(query.cursor))
      tellAge(reply, unconfirmedMs())
      const last = found.length > limit ? found[limit - 1] : undefined
      return {
        plans: found.slice(0, limit).map(summaryBody),
        nextCursor: last ? `${last.createdAt}.${last.planId}` : null,
      }
    },
  )
}

/** Longer than the longest probe of a backend. */
const UNHEALTHY_ANSWER_MS = 3_500

/**
 * Public callers get the answer about an unhealthy backend always after the same time, also where it is only a warning. Otherwise the
 * time would tell a closed port from a filtered one, and a plan could be used as a port scanner. Shutdown ends the delay.
 */
async function withEqualDelay(
  { network }: Caller,
  closing: AbortSignal,
  clock: Clock,
  plan: () => Promise<Plan>,
): Promise<Plan> {
  const began = clock.monotonic()
  const delay = async (checks: readonly Check[]) => {
    if (network !== 'public' || !checks.some(isUnhealthy)) return
    const left = Math.max(0, began + UNHEALTHY_ANSWER_MS - clock.monotonic())
    await clock.sleep(left, { signal: closing }).catch(() => undefined)
  }
  try {
    const made = await plan()
    await delay(made.checks)
    return made
  } catch (error) {
    if (error instanceof Problem) await delay((error.members.checks as readonly Check[] | undefined) ?? [])
    throw error
  }
}

function parseCursor(cursor: string): PlanCursor {
  const [createdAt, planId = ''] = cursor.split('.')
  return { createdAt: Number(createdAt), planId }
}

const summaryBody = (plan: Plan) => {
  const { planId, state, host, url, request, createdAt, expiresAt } = plan
  return {
    ...{ planId, state, host, url, request },
    ...makerOf(plan),
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  }
}

/** Who made the plan, for the people who apply plans. */
const makerOf = ({ createdBy, network }: Plan) => ({ createdBy, network })

/** `own`: for the caller who sent this very request. */
function planBody(plan: Plan, network: Caller['network'], to?: 'own'): PlanBody {
  const { planId, state, host, url, request, digest, steps, createdAt, expiresAt } = plan
  const isInside = network === 'internal'
  return {
    ...{ planId, state, host, url, digest },
    request: isInside || to === 'own' ? request : publicRequest(request),
    checks: isInside ? [...plan.checks] : plan.checks.map(publicCheck),
    changes: isInside ? [...plan.changes] : plan.changes.map(publicChange),
    steps: [...steps],
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  }
}

const timesOf = ({ action, state, startedAt, finishedAt }: RunReport['run']) => ({
  action,
  state,
  startedAt: new Date(startedAt).toISOString(),
  finishedAt: finishedAt === undefined ? null : new Date(finishedAt).toISOString(),
})

const lastRunBody = ({ run, steps }: RunReport): LastRunBody => ({ ...timesOf(run), steps: [...steps] })

const runBody = ({ run, events }: RunReport): RunBody => ({
  ...timesOf(run),
  actor: run.actor,
  events: events.map(({ action: _ofTheRun, ...event }) => event),
})
