import type { Caller } from '../../authorize/caller.ts'
import type { HostStatus } from '../../model/host-status.ts'
import type { Board } from '../../monitor/board.ts'
import { WakeUp } from '../../primitives/followers.ts'
import type { App } from '../app.ts'
import { problems } from '../schemas/plan-schemas.ts'
import { eventStream } from '../schemas/schema-parts.ts'
import { HostRowBody } from '../schemas/status-schemas.ts'
import { lastEventId, type SendEvents, type ServerSentEvent } from '../streams/event-stream.ts'
import { hostRow, type Visibility } from './host-body.ts'

/** Hosts come and go in crowds: one event at the beginning and one at the end are enough for all of them. */
const GATHER_MS = 200

/** Badges as they change, and an event when hosts come or go. A client that comes back with Last-Event-ID misses nothing. */
export function hostEventRoutes(
  app: App,
  board: Board,
  now: () => number,
  send: SendEvents,
  visibleTo: Visibility,
): void {
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
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
    (request, reply) => {
      const { caller, headers } = request
      const last = lastEventId(headers['last-event-id'])
      const after = last !== undefined && /^\d{1,15}$/.test(last) ? Number(last) : undefined
      return send(request, reply, async (gone) => {
        const end = AbortSignal.any([gone, closing.signal])
        return rowsOf(changesOn(board, after, end, visibleTo(caller.network)), caller.network, now)
      })
    },
  )
}

type HostChange = { readonly id: number; readonly status?: HostStatus }

/** Changes after that place, or from now on. Of a host that changes faster than they are taken only the newest is told. */
async function* changesOn(
  board: Board,
  after: number | undefined,
  end: AbortSignal,
  isShown: ReturnType<Visibility>,
): AsyncGenerator<HostChange, void> {
  const missed = after === undefined ? [] : [...board.all()].filter((one) => one.changed > after && isShown(one))
  const badges = new Map(missed.sort((a, b) => a.changed - b.changed).map((status) => [status.host, status]))
  // Nobody remembers which hosts came and went while the caller was away.
  let areOthers = after !== undefined
  let isGathering = false
  const news = new WakeUp()
  const stop = board.listen((change) => {
    if (!isShown(change.kind === 'hosts' ? change : change.status)) return
    if (change.kind === 'hosts') areOthers = true
    else {
      badges.delete(change.status.host)
      badges.set(change.status.host, change.status)
    }
    news.call()
  })
  try {
    while (!end.aborted) {
      const more = news.next(end)
      for (const [host, status] of badges) {
        badges.delete(host)
        yield { id: status.changed, status }
      }
      if (areOthers && !isGathering) {
        areOthers = false
        isGathering = true
        setTimeout(() => {
          isGathering = false
          news.call()
        }, GATHER_MS).unref()
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
