import type { Metrics } from '../../metrics/metrics.ts'
import type { App } from '../app.ts'
import { problems } from '../schemas.ts'
import { MetricsText } from '../status-schemas.ts'

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
