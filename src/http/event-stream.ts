import { once } from 'node:events'
import type { FastifyReply } from 'fastify'

export interface ServerSentEvent {
  /** Where to go on from: the browser sends the last one back as Last-Event-ID. */
  readonly id: string
  readonly event: string
  readonly data: unknown
}

const HEARTBEAT_MS = 15_000

/** Aborted when the caller has hung up: whoever waits for the next event must hear of it, there may never be one. */
export function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}

/** Answers with events as they come, until there are no more. Who reads slowly is waited for. */
export async function streamEvents(reply: FastifyReply, events: AsyncGenerator<ServerSentEvent, void>): Promise<void> {
  const { raw } = reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
  })
  // Who waits for the first event shall know that the stream is open.
  raw.flushHeaders()
  const gone = once(raw, 'close')
  const beat = setInterval(() => raw.write(': still here\n\n'), HEARTBEAT_MS)
  try {
    for await (const { id, event, data } of events) {
      const room = raw.write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
      if (!room) await Promise.race([once(raw, 'drain'), gone])
    }
  } finally {
    clearInterval(beat)
    raw.end()
  }
}

/** Only one that a browser would send back; a header that was sent twice is none. */
export const lastEventId = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined
