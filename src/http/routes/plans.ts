import type { Exposer } from '../../exposer.ts'
import type { Plan } from '../../model/exposure.ts'
import type { RunStory } from '../../progress.ts'
import type { App } from '../app.ts'
import type { LastRunBody } from '../run-schemas.ts'
import { ExposureRequestBody, PlanBody, PlanIdParams, problems } from '../schemas.ts'

export function planRoutes(app: App, exposer: Exposer): void {
  app.post(
    '/api/deploy/plan',
    {
      config: { budget: 'plan', audited: 'plan' },
      schema: {
        operationId: 'createPlan',
        tags: ['deploy'],
        summary: 'Check backend, name and certificate; change nothing',
        body: ExposureRequestBody,
        response: {
          201: PlanBody,
          ...problems(
            'invalid_request',
            'payload_too_large',
            'server_not_allowed',
            'zone_not_managed',
            'port_not_allowed',
            'backend_unhealthy',
            'dns_name_taken',
            'dns_unavailable',
            'certificate_unavailable',
          ),
        },
      },
    },
    async (request, reply) => {
      const plan = await exposer.plan(request.body, request.caller)
      return reply.code(201).header('location', `/api/deploy/plans/${plan.planId}`).send(planBody(plan))
    },
  )

  app.get(
    '/api/deploy/plans/:planId',
    {
      schema: {
        operationId: 'getPlan',
        tags: ['deploy'],
        summary: 'A plan, for whoever knows its id',
        params: PlanIdParams,
        response: { 200: PlanBody, ...problems('plan_not_found') },
      },
    },
    async (request) => {
      const { planId } = request.params
      const [plan, run] = await Promise.all([exposer.findPlan(planId), exposer.lastRun(planId)])
      return { ...planBody(plan), ...(run && { lastRun: lastRunBody(run) }) }
    },
  )
}

function planBody({ createdBy: _private, createdAt, expiresAt, ...plan }: Plan): PlanBody {
  return {
    ...plan,
    checks: [...plan.checks],
    changes: [...plan.changes],
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  }
}

const lastRunBody = ({ run, steps }: RunStory): LastRunBody => ({
  action: run.action,
  state: run.state,
  startedAt: new Date(run.startedAt).toISOString(),
  finishedAt: run.finishedAt === undefined ? null : new Date(run.finishedAt).toISOString(),
  steps: [...steps],
})
