import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { DOCUMENT, finishDocument } from '../api-document.ts'
import type { App } from '../app.ts'
import { LLMS_TEXT } from '../llms-text.ts'

/** Must be registered before the routes it describes. */
export async function describeApi(app: App, version: string): Promise<void> {
  await app.register(swagger, {
    transformObject: (document) => finishDocument('openapiObject' in document ? { ...document.openapiObject } : {}),
    openapi: {
      ...DOCUMENT,
      info: {
        title: 'Drawbridge',
        version,
        description:
          'Puts a service on the air in two stages: a plan that only looks, and an apply that changes DNS, reverse proxy and certificate together or not at all.',
        contact: { name: 'The administrator of this installation' },
        license: { name: 'MIT', identifier: 'MIT' },
      },
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
  app.get('/llms.txt', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(LLMS_TEXT),
  )
}
