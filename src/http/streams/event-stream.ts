import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../authorize/caller.ts'
import { Problem } from '../../model/errors.ts'
import type { Clock } from '../../primitives/clock.ts'
import { addressGroup } from '../guard/rate-limit.ts'

export interface ServerSentEvent {
  /** The position in the stream. A client sends the last one as Last-Event-ID to resume. */
  readonly id: string
  readonly event: string
  readonly data: unknown
}

/** Opens the events of a stream. `gone` is aborted when the caller disconnects; the source must stop waiting then. */
type Source = (gone: AbortSignal) => Promise<AsyncGenerator<ServerSentEvent, void>>

/** Answers with the events of a source. A Problem from `open` becomes an ordinary refusal. */
export type SendEvents = (request: FastifyRequest, reply: FastifyReply, open: Source) => Promise<void>

/** For the route of a stream. Its answer to HEAD would have no end. */
export const STREAMED = { exposeHeadRoute: false } as const

/** Creates the writer of server-sent events. All its streams share the same limits. */
export function eventStreams(clock: Clock): SendEvents {
  const streams = new OpenStreams()
  return async ({ caller }, reply, open) => {
    const { raw } = reply
    const leave = streams.enter(caller)
    const gone = new AbortController()
    const end = () => {
      leave()
      gone.abort()
    }
    raw.once('close', end)
    // A caller who disconnected before this line has emitted `close` already.
    if (raw.destroyed) end()
    const events = await open(gone.signal)
    reply.hijack()
    await write(raw, reply.getHeaders() as Record<string, string>, events, gone.signal, clock)
  }
}

const HEARTBEAT_MS = 15_000

/** Writes until there are no more events. Waits for a caller who reads slowly. */
async function write(
  raw: ServerResponse,
  headers: Record<string, string>,
  events: AsyncGenerator<ServerSentEvent, void>,
  gone: AbortSignal,
  clock: Clock,
): Promise<void> {
  raw.writeHead(200, { ...headers, 'content-type': 'text/event-stream; charset=utf-8' })
  // The caller sees that the stream is open before the first event.
  raw.flushHeaders()
  keepAlive(raw, clock)
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

/** Disconnects a caller who has read nothing between two heartbeats, because open streams are limited. */
function keepAlive(raw: ServerResponse, clock: Clock): void {
  let wasFull = false
  const beat = clock.every(HEARTBEAT_MS, () => {
    if (wasFull && raw.writableNeedDrain) raw.destroy()
    else if (!raw.writableNeedDrain && !raw.writableEnded) raw.write(': still here\n\n')
    wasFull = raw.writableNeedDrain
  })
  raw.once('close', () => beat.cancel())
}

/** The Last-Event-ID header. A header that was sent twice counts as absent. */
export const lastEventId = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined

const MOST_IN_ALL = 1_000
/** Public callers can never use all streams, so internal callers always get one. */
const MOST_PUBLIC = MOST_IN_ALL / 2
const MOST_PER_ADDRESS = 50
const RETRY_AFTER_SECONDS = 30

/** Counts all open event streams and refuses streams over the limits. */
class OpenStreams {
  readonly #byAddress = new Map<string, number>()
  readonly #byNetwork = { internal: 0, public: 0 }

  /** Counts a stream of this caller. The result ends the count; calling it again has no effect. */
  enter({ address, network }: Caller): () => void {
    const key = `${network} ${addressGroup(address)}`
    const own = this.#byAddress.get(key) ?? 0
    if (own >= MOST_PER_ADDRESS) throw tooMany(`This address has ${MOST_PER_ADDRESS} open streams, which is the limit.`)
    const all = this.#byNetwork.internal + this.#byNetwork.public
    if (all >= MOST_IN_ALL || (network === 'public' && this.#byNetwork.public >= MOST_PUBLIC)) {
      throw tooMany('Too many streams of other callers are open.')
    }
    this.#byAddress.set(key, own + 1)
    this.#byNetwork[network] += 1
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      this.#byNetwork[network] -= 1
      const left = (this.#byAddress.get(key) ?? 1) - 1
      if (left === 0) this.#byAddress.delete(key)
      else this.#byAddress.set(key, left)
    }
  }
}

const tooMany = (detail: string): Problem =>
  new Problem('rate_limited', detail, {
    retryAfter: RETRY_AFTER_SECONDS,
    nextAction: 'Close a stream that is not needed, or wait for the number of seconds in retryAfter and try again.',
  })
