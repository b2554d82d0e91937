import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { OpenStreams } from './open-streams.ts'

export interface ServerSentEvent {
  /** Where to go on from: the browser sends the last one back as Last-Event-ID. */
  readonly id: string
  readonly event: string
  readonly data: unknown
}

/** Opens what a stream tells. `gone` is aborted when the caller has hung up: nobody may wait for the next event any longer. */
type Source = (gone: AbortSignal) => Promise<AsyncGenerator<ServerSentEvent, void>>

/** Answers with the events of a source as they come. A refusal of the source is answered as such. */
export type SendEvents = (request: FastifyRequest, reply: FastifyReply, open: Source) => Promise<void>

/** The one writer of server-sent events; its streams share one set of bounds. */
export function eventStreams(): SendEvents {
  const places = new OpenStreams()
  return async ({ caller }, reply, open) => {
    const { raw } = reply
    const leave = places.enter(caller)
    const gone = new AbortController()
    const end = () => {
      leave()
      gone.abort()
    }
    raw.once('close', end)
    // The close of a caller who hung up before this line was told to nobody.
    if (raw.destroyed) end()
    const events = await open(gone.signal)
    reply.hijack()
    await write(raw, reply.getHeaders() as Record<string, string>, events, gone.signal)
  }
}

const HEARTBEAT_MS = 15_000

/** Writes until there are no more events. A caller who reads slowly is waited for. */
async function write(
  raw: ServerResponse,
  headers: Record<string, string>,
  events: AsyncGenerator<ServerSentEvent, void>,
  gone: AbortSignal,
): Promise<void> {
  raw.writeHead(200, { ...headers, 'content-type': 'text/event-stream; charset=utf-8' })
  // A caller who waits for the first event is told that the stream is open.
  raw.flushHeaders()
  keepAlive(raw)
  try {
    for await (const { id, event, data } of events) {
      if (gone.aborted) return
      const hasRoom = raw.write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
      if (!hasRoom) await once(raw, 'drain', { signal: gone }).catch(() => undefined)
    }
  } finally {
    raw.end()
  }
}

/** A caller who has read nothing between two heartbeats is cut off: the stream's place is for somebody who reads. */
function keepAlive(raw: ServerResponse): void {
  let wasFull = false
  const beat = setInterval(() => {
    if (wasFull && raw.writableNeedDrain) raw.destroy()
    else if (!raw.writableNeedDrain && !raw.writableEnded) raw.write(': still here\n\n')
    wasFull = raw.writableNeedDrain
  }, HEARTBEAT_MS)
  raw.once('close', () => clearInterval(beat))
}

/** Only one that a browser would send back; a header that was sent twice is none. */
export const lastEventId = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined
