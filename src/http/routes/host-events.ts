import type { FastifyReply } from 'fastify'
import type { Caller } from '../../authorize/caller.ts'
import { Problem } from '../../model/errors.ts'
import type { HostStatus } from '../../model/host-status.ts'
import type { Board } from '../../monitor/board.ts'
import type { App } from '../app.ts'
import { hostRow } from '../host-body.ts'
import { eventStream } from '../schema-parts.ts'
import { problems } from '../schemas.ts'
import { HostRowBody } from '../status-schemas.ts'

const HEARTBEAT_MS = 15_000
/** Hosts come and go in crowds: one word at the beginning and one at the end are enough for all of them. */
const GATHER_MS = 200
const MOST_STREAMS = 1_000
const MOST_PER_ADDRESS = 50
/** Who does not read is let go, and goes on from where it was when it comes back. */
const MOST_UNREAD = 1024 * 1024

/** Badges as they change, and a word when hosts come or go. A client that comes back with Last-Event-ID misses nothing. */
export function hostEventRoutes(app: App, board: Board, now: () => number): void {
  const streams = new Set<HostStream>()
  app.addHook('preClose', async () => {
    for (const stream of streams) stream.end()
  })
  app.get(
    '/api/hosts/events',
    {
      schema: {
        operationId: 'followHosts',
        tags: ['status'],
        summary: 'Badges as they change (server-sent events)',
        response: { 200: eventStream('A row of each host whose badge changes.', HostRowBody), ...problems() },
      },
    },
    async ({ caller, headers }, reply) => {
      refuseCrowd(streams, caller)
      const last = headers['last-event-id']
      const stream = new HostStream(reply, caller, board, now)
      streams.add(stream)
      reply.raw.on('close', () => {
        streams.delete(stream)
        stream.end()
      })
      stream.begin(typeof last === 'string' && /^\d{1,15}$/.test(last) ? Number(last) : undefined)
    },
  )
}

function refuseCrowd(streams: ReadonlySet<HostStream>, { address }: Caller): void {
  const own = [...streams].filter(({ caller }) => caller.address === address).length
  if (own >= MOST_PER_ADDRESS) {
    throw new Problem('rate_limited', `${MOST_PER_ADDRESS} streams are open to this address.`, { retryAfter: 30 })
  }
  if (streams.size >= MOST_STREAMS) throw new Problem('unavailable', 'Too many streams are open.', { retryAfter: 30 })
}

/** One client that follows. */
class HostStream {
  readonly caller: Caller
  readonly #reply: FastifyReply
  readonly #board: Board
  readonly #now: () => number
  #gathering: NodeJS.Timeout | undefined
  #areMore = false
  #beat: NodeJS.Timeout | undefined
  #stop: () => void = () => undefined

  constructor(reply: FastifyReply, caller: Caller, board: Board, now: () => number) {
    this.caller = caller
    this.#reply = reply
    this.#board = board
    this.#now = now
  }

  begin(last: number | undefined): void {
    this.#reply.hijack()
    this.#reply.raw.writeHead(200, {
      ...(this.#reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
    })
    this.#reply.raw.flushHeaders()
    this.#beat = setInterval(() => this.#write(': still here\n\n'), HEARTBEAT_MS)
    this.#stop = this.#board.listen((news) => {
      if (news.kind === 'badge') this.#tellBadge(news.status)
      else if (this.#gathering) this.#areMore = true
      else this.#tellHosts()
    })
    if (last === undefined) return
    const missed = [...this.#board.all()].filter(({ changed }) => changed > last)
    for (const status of missed.sort((a, b) => a.changed - b.changed)) this.#tellBadge(status)
    // Nobody remembers which hosts came and went meanwhile.
    this.#tellHosts()
  }

  end(): void {
    clearInterval(this.#beat)
    clearTimeout(this.#gathering)
    this.#stop()
    this.#reply.raw.end()
  }

  #tellBadge(status: HostStatus): void {
    const row = hostRow(status, this.caller.network, this.#now())
    this.#write(`id: ${status.changed}\nevent: badge\ndata: ${JSON.stringify(row)}\n\n`)
  }

  #tellHosts(): void {
    this.#areMore = false
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined
      if (this.#areMore) this.#tellHosts()
    }, GATHER_MS)
    this.#write(`id: ${this.#board.changed}\nevent: hosts\ndata: {}\n\n`)
  }

  #write(text: string): void {
    if (this.#reply.raw.writableLength > MOST_UNREAD) this.#reply.raw.destroy()
    else this.#reply.raw.write(text)
  }
}
