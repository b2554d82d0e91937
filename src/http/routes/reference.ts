import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { App } from '../app.ts'

/** Must be registered before the routes it describes. */
export async function describeApi(app: App, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Drawbridge',
        version,
        description:
          'Puts a service on the air in two stages: a plan that only looks, and an apply that changes DNS, reverse proxy and certificate together or not at all.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      tags: [
        { name: 'policy', description: 'What is allowed here' },
        { name: 'deploy', description: 'Plan, get the right to act, act' },
        { name: 'events', description: 'What happened and what happens' },
        { name: 'system', description: 'For whatever watches the machine' },
      ],
    },
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Drawbridge API' },
    uiConfig: { layout: 'BaseLayout', defaultModelsExpandDepth: -1 },
  })
}

export function referenceRoutes(app: App): void {
  app.get('/api/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}
