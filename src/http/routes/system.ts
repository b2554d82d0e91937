import { Problem } from '../../model/errors.ts'
import type { App } from '../app.ts'
import { problems, ReadyBody, StatusBody } from '../schemas.ts'

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
