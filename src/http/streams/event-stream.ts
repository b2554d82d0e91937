import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../authorize/caller.ts'
import { Problem } from '../../model/errors.ts'
import { household } from '../guard/rate-limit.ts'

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

const MOST_IN_ALL = 1_000
/** The public can never keep callers of the internal network out. */
const MOST_PUBLIC = MOST_IN_ALL / 2
const MOST_PER_ADDRESS = 50
const RETRY_AFTER_SECONDS = 30

/** Counts the open event streams, whatever they tell, and refuses those past the bounds. */
class OpenStreams {
  readonly #byAddress = new Map<string, number>()
  readonly #byNetwork = { internal: 0, public: 0 }

  /** Takes a place for a stream to this caller. The result gives the place back, however often it is called. */
  enter({ address, network }: Caller): () => void {
    const key = `${network} ${household(address)}`
    const own = this.#byAddress.get(key) ?? 0
    if (own >= MOST_PER_ADDRESS) throw tooMany(`${MOST_PER_ADDRESS} streams are open to this address.`)
    const all = this.#byNetwork.internal + this.#byNetwork.public
    if (all >= MOST_IN_ALL || (network === 'public' && this.#byNetwork.public >= MOST_PUBLIC)) {
      throw tooMany('Too many streams are open to other callers.')
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
    nextAction: 'Close a stream that is not needed, or wait the seconds of Retry-After and open it again.',
  })
