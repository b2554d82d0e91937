import type { Caller } from '../../authorize/caller.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { Problem } from '../../model/errors.ts'
import type { App } from '../app.ts'
import { PolicyBody, problems, ReadyBody, StatusBody } from '../schemas/plan-schemas.ts'
import { MetricsText } from '../schemas/status-schemas.ts'

/** For whatever watches the machine: asked under any Host, at no cost to a budget. */
export function systemRoutes(app: App, isReady: () => Promise<boolean>, warnings: () => readonly string[]): void {
  const config = { budget: 'free', anyHost: true } as const

  app.get(
    '/livez',
    {
      config,
      schema: {
        operationId: 'isAlive',
        tags: ['system'],
        summary: 'The service runs',
        response: { 200: StatusBody, ...problems() },
      },
    },
    async () => ({ status: 'ok' }) as const,
  )

  app.get(
    '/readyz',
    {
      config,
      schema: {
        operationId: 'isReady',
        tags: ['system'],
        summary: 'The service runs, its store answers and it is not shutting down',
        response: { 200: ReadyBody, ...problems() },
      },
    },
    async () => {
      if (!(await isReady())) {
        const sentence = 'The store does not answer or the service is shutting down.'
        throw new Problem('unavailable', sentence, { retryAfter: 5 })
      }
      const found = [...warnings()]
      return found.length === 0 ? ({ status: 'ok' } as const) : ({ status: 'degraded', warnings: found } as const)
    },
  )
}

/** For Prometheus, inside. Names of hosts and how they do are not for everybody in such numbers. */
export function metricsRoutes(app: App, metrics: Metrics): void {
  app.addHook('onResponse', async ({ routeOptions, refusedWith }) => {
    if (refusedWith && routeOptions.config?.audited === 'plan') metrics.planRefused(refusedWith)
  })
  app.get(
    '/metrics',
    {
      config: { inside: true },
      schema: {
        operationId: 'getMetrics',
        tags: ['system'],
        summary: 'Numbers for Prometheus (internal network only)',
        response: { 200: MetricsText, ...problems('internal_network_required') },
      },
    },
    async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()),
  )
}

export function policyRoutes(app: App, policy: (caller: Caller) => PolicyBody): void {
  app.get(
    '/api/policy',
    {
      schema: {
        operationId: 'getPolicy',
        tags: ['policy'],
        summary: 'The deployment policy, and what this caller may do',
        response: { 200: PolicyBody, ...problems() },
      },
    },
    async (request) => policy(request.caller),
  )
}
