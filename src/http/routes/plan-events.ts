import type { PlanProgress, ProgressEvent } from '../../progress.ts'
import type { App } from '../app.ts'
import { lastEventId, type SendEvents, type ServerSentEvent } from '../event-stream.ts'
import { ProgressBody } from '../run-schemas.ts'
import { eventStream } from '../schema-parts.ts'
import { PlanIdParams, problems } from '../schemas.ts'

/** Each step as it starts and ends, as server-sent events. A client that comes back with Last-Event-ID misses nothing. */
export function planEventRoutes(app: App, progress: PlanProgress, send: SendEvents): void {
  app.addHook('preClose', async () => progress.close())
  app.get(
    '/api/deploy/plans/:planId/events',
    {
      schema: {
        operationId: 'followPlan',
        tags: ['deploy'],
        summary: "A plan's steps as they start and end (server-sent events)",
        params: PlanIdParams,
        response: { 200: eventStream('Each step as it starts and ends.', ProgressBody), ...problems('plan_not_found') },
      },
    },
    (request, reply) => {
      const { params, headers } = request
      const last = lastEventId(headers['last-event-id'])
      return send(request, reply, async (gone) => toServerSent(await progress.follow(params.planId, last, gone)))
    },
  )
}

async function* toServerSent(events: AsyncGenerator<ProgressEvent, void>): AsyncGenerator<ServerSentEvent, void> {
  for await (const { id, name, ...data } of events) yield { id, event: name, data }
}
