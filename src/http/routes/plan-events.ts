import type { Caller } from '../../authorize/caller.ts'
import type { PlanProgress, ProgressEvent } from '../../progress.ts'
import type { App } from '../app.ts'
import { lastEventId, type SendEvents, type ServerSentEvent } from '../event-stream.ts'
import { publicEvent } from '../public-view.ts'
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
      const { params, headers, caller } = request
      const last = lastEventId(headers['last-event-id'])
      return send(request, reply, async (gone) =>
        toServerSent(await progress.follow(params.planId, last, gone), caller),
      )
    },
  )
}

async function* toServerSent(
  events: AsyncGenerator<ProgressEvent, void>,
  { network }: Caller,
): AsyncGenerator<ServerSentEvent, void> {
  for await (const event of events) {
    const { id, name, ...data } = network === 'public' ? publicEvent(event) : event
    yield { id, event: name, data }
  }
}
