import type { Caller } from '../../authorize/caller.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { Problem } from '../../model/errors.ts'
import type { App } from '../app.ts'
import { PolicyBody } from '../schemas/policy-schemas.ts'
import { problems } from '../schemas/problem-schemas.ts'
import { MetricsText, ReadyBody, StatusBody } from '../schemas/system-schemas.ts'

/** Probes for load balancers and supervisors. They accept any Host header and have no rate limit. */
export function systemRoutes(
  app: App,
  isReady: () => Promise<boolean>,
  warnings: () => Promise<readonly string[]>,
): void {
  const config = { budget: 'free', anyHost: true } as const

  app.get(
    '/livez',
    {
      config,
      schema: {
        operationId: 'isAlive',
        tags: ['system'],
        summary: 'Check that the service runs',
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
        summary: 'Check that the service runs, its store answers and no shutdown is in progress',
        response: { 200: ReadyBody, ...problems() },
      },
    },
    async () => {
      if (!(await isReady())) {
        const sentence = 'The store does not answer, or the service is shutting down.'
        throw new Problem('unavailable', sentence, { retryAfter: 5 })
      }
      const found = [...(await warnings())]
      return found.length === 0 ? ({ status: 'ok' } as const) : ({ status: 'degraded', warnings: found } as const)
    },
  )
}

/** Metrics for Prometheus, for internal callers only, because they name all hosts and their state. */
export function metricsRoutes(app: App, metrics: Metrics): void {
  app.addHook('onReady', async () => metrics.loopDelay.start())
  app.addHook('onClose', async () => metrics.loopDelay.stop())
  app.addHook('onResponse', async ({ routeOptions, refusedWith }) => {
    if (refusedWith && routeOptions.config?.audited === 'plan') metrics.planRefused(refusedWith)
  })
  app.get(
    '/metrics',
    {
      config: { internalOnly: true },
      schema: {
        operationId: 'getMetrics',
        tags: ['system'],
        summary: 'Read metrics for Prometheus (internal network only)',
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
        summary: 'Read the deployment policy and the permissions of this caller',
        response: { 200: PolicyBody, ...problems() },
      },
    },
    async (request) => policy(request.caller),
  )
}
