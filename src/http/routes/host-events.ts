import type { Caller } from '../../authorize/caller.ts'
import type { HostStatus } from '../../model/host-status.ts'
import type { Board } from '../../monitor/board.ts'
import type { Clock } from '../../primitives/clock.ts'
import { WakeUp } from '../../primitives/followers.ts'
import type { App } from '../app.ts'
import { problems } from '../schemas/problem-schemas.ts'
import { eventStream } from '../schemas/schema-parts.ts'
import { HostRowBody } from '../schemas/status-schemas.ts'
import { lastEventId, type SendEvents, type ServerSentEvent, STREAMED } from '../streams/event-stream.ts'
import { hostRow, type Visibility } from './host-body.ts'

/** Many hosts often change together. At most one `hosts` event is sent in this time. */
const GATHER_MS = 200

/** Streams badge changes, and an event when hosts are added or removed. A client that resumes with Last-Event-ID misses none. */
export function hostEventRoutes(app: App, board: Board, clock: Clock, send: SendEvents, visibleTo: Visibility): void {
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  app.get(
    '/api/hosts/events',
    {
      ...STREAMED,
      schema: {
        operationId: 'followHosts',
        tags: ['status'],
        summary: 'Stream badge changes (server-sent events)',
        response: { 200: eventStream('The row of each host whose badge changes.', HostRowBody), ...problems() },
      },
    },
    (request, reply) => {
      const { caller, headers } = request
      const last = lastEventId(headers['last-event-id'])
      const after = last !== undefined && /^\d{1,15}$/.test(last) ? Number(last) : undefined
      return send(request, reply, async (gone) => {
        const end = AbortSignal.any([gone, closing.signal])
        return rowsOf(changesOn(board, after, end, visibleTo(caller.network), clock), caller.network, clock.now)
      })
    },
  )
}

type HostChange = { readonly id: number; readonly status?: HostStatus }

/** Changes after position `after`, or from now on. If a host changes faster than the caller reads, only the newest is sent. */
async function* changesOn(
  board: Board,
  after: number | undefined,
  end: AbortSignal,
  isShown: ReturnType<Visibility>,
  clock: Clock,
): AsyncGenerator<HostChange, void> {
  const missed = after === undefined ? [] : [...board.all()].filter((one) => one.changed > after && isShown(one))
  const badges = new Map(missed.sort((a, b) => a.changed - b.changed).map((status) => [status.host, status]))
  // Added and removed hosts are not stored, so a client that resumes always gets a `hosts` event.
  let hasHostsEvent = after !== undefined
  let isGathering = false
  const wakeUp = new WakeUp()
  const stop = board.listen((change) => {
    if (change.kind === 'row' || !isShown(change.kind === 'hosts' ? change : change.status)) return
    if (change.kind === 'hosts') hasHostsEvent = true
    else {
      badges.delete(change.status.host)
      badges.set(change.status.host, change.status)
    }
    wakeUp.call()
  })
  try {
    while (!end.aborted) {
      const more = wakeUp.next(end)
      for (const [host, status] of badges) {
        badges.delete(host)
        yield { id: status.changed, status }
      }
      if (hasHostsEvent && !isGathering) {
        hasHostsEvent = false
        isGathering = true
        const gathered = () => {
          isGathering = false
          wakeUp.call()
        }
        clock.after(GATHER_MS, gathered, { ref: false })
        yield { id: board.changed }
      }
      await more
    }
  } finally {
    stop()
  }
}

async function* rowsOf(
  changes: AsyncGenerator<HostChange, void>,
  network: Caller['network'],
  now: () => number,
): AsyncGenerator<ServerSentEvent, void> {
  for await (const { id, status } of changes) {
    yield status
      ? { id: String(id), event: 'badge', data: hostRow(status, network, now()) }
      : { id: String(id), event: 'hosts', data: {} }
  }
}
