import type { FastifyReply } from 'fastify'
import type { PlanProgress, ProgressEvent } from '../../progress.ts'
import type { App } from '../app.ts'
import { PlanIdParams, problems } from '../schemas.ts'

const HEARTBEAT_MS = 15_000

/** Each step as it starts and ends, as server-sent events. A client that comes back with Last-Event-ID misses nothing. */
export function planEventRoutes(app: App, progress: PlanProgress): void {
  app.addHook('preClose', async () => progress.close())
  app.get(
    '/api/deploy/plans/:planId/events',
    {
      schema: {
        operationId: 'followPlan',
        tags: ['deploy'],
        summary: "A plan's steps as they start and end (server-sent events)",
        params: PlanIdParams,
        produces: ['text/event-stream'],
        response: { ...problems('plan_not_found') },
      },
    },
    async (request, reply) => {
      const last = request.headers['last-event-id']
      const events = await progress.follow(request.params.planId, typeof last === 'string' ? last : undefined)
      reply.hijack()
      reply.raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
      })
      // Who waits for a run to begin shall know that the stream is open.
      reply.raw.flushHeaders()
      const beat = setInterval(() => reply.raw.write(': still here\n\n'), HEARTBEAT_MS)
      reply.raw.on('close', () => void events.return(undefined))
      try {
        for await (const event of events) send(reply, event)
      } finally {
        clearInterval(beat)
        reply.raw.end()
      }
    },
  )
}

function send(reply: FastifyReply, { id, name, ...body }: ProgressEvent): void {
  reply.raw.write(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(body)}\n\n`)
}
