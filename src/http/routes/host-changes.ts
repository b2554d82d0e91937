import type { Caller } from '../../authorize/caller.ts'
import type { StoredEvent } from '../../model/event.ts'
import type { EdgeStanding } from '../../model/host-status.ts'
import type { Board } from '../../monitor/board.ts'
import type { EventFeed } from '../../notify/event-feed.ts'
import type { Clock } from '../../primitives/clock.ts'
import { WakeUp } from '../../primitives/followers.ts'
import type { PlanProgress } from '../../usecases/progress.ts'
import type { App } from '../app.ts'
import { problems } from '../schemas/problem-schemas.ts'
import { eventStream } from '../schemas/schema-parts.ts'
import { HostChangeBody } from '../schemas/status-schemas.ts'
import { type SendEvents, type ServerSentEvent, STREAMED } from '../streams/event-stream.ts'
import { edgeBody, hostRow, type Visibility } from './host-body.ts'

interface ChangeParts {
  readonly board: Board
  readonly standings: { readonly all: readonly EdgeStanding[]; readonly revision: number }
  readonly progress: PlanProgress
  readonly events: EventFeed
  readonly clock: Clock
}

/** How often a stream says that it is alive. Clients count a stream as lost after twice this time. */
const ALIVE_MS = 10_000

/**
 * Streams what changes in the list of hosts, as changes: a client loads the list once and keeps it up to date. A client that
 * was disconnected loads the list again.
 */
export function hostChangeRoutes(app: App, parts: ChangeParts, send: SendEvents, visibleTo: Visibility): void {
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  app.get(
    '/api/hosts/changes',
    {
      ...STREAMED,
      schema: {
        operationId: 'followHostChanges',
        tags: ['status'],
        summary: 'Stream what changes in the list of hosts (server-sent events)',
        response: {
          200: eventStream('The changed row, the removed host, the edges, or the changed plan.', HostChangeBody),
          ...problems(),
        },
      },
    },
    (request, reply) =>
      send(request, reply, async (gone) =>
        changesFor(request.caller.network, parts, AbortSignal.any([gone, closing.signal]), visibleTo),
      ),
  )
}

/** Collects changes until the caller reads them. If a host changes faster than the caller reads, only the newest is sent. */
async function* changesFor(
  network: Caller['network'],
  { board, standings, progress, events, clock }: ChangeParts,
  end: AbortSignal,
  visibleTo: Visibility,
): AsyncGenerator<ServerSentEvent, void> {
  const isShown = visibleTo(network)
  const hosts = new Set<string>()
  const plans = new Set<string>()
  let newest: number | undefined
  const wakeUp = new WakeUp()
  const stops: (() => void)[] = []
  stops.push(
    board.listen((change) => {
      if (!isShown(change.kind === 'hosts' ? change : change.status)) return
      hosts.add(change.kind === 'hosts' ? change.host : change.status.host)
      wakeUp.call()
    }),
  )
  const noticePlan = (planId: string) => {
    plans.add(planId)
    wakeUp.call()
  }
  if (network === 'internal') {
    stops.push(progress.listen(noticePlan))
    void followEvents(events, end, ({ seq, planId, type }) => {
      newest = seq
      if (planId !== undefined && !type.startsWith('host.')) plans.add(planId)
      wakeUp.call()
    })
  }
  let isDue = true
  const timer = clock.every(ALIVE_MS, () => {
    isDue = true
    wakeUp.call()
  })
  stops.push(() => timer.cancel())
  let revision = standings.revision
  let count = 0
  const message = (event: string, data: unknown): ServerSentEvent => {
    count += 1
    return { id: String(count), event, data }
  }
  try {
    while (!end.aborted) {
      const more = wakeUp.next(end)
      for (const host of hosts) {
        hosts.delete(host)
        const status = board.find(host)
        yield status && isShown(status)
          ? message('row', hostRow(status, network, clock.now()))
          : message('gone', { host })
      }
      for (const planId of plans) {
        plans.delete(planId)
        yield message('plan', { planId })
      }
      if (newest !== undefined) {
        const seq = newest
        newest = undefined
        yield message('event', { seq })
      }
      if (network === 'internal' && revision !== standings.revision) {
        revision = standings.revision
        yield message('edges', { edges: standings.all.map(edgeBody) })
      }
      if (isDue) {
        isDue = false
        yield message('alive', { at: new Date(clock.now()).toISOString() })
      }
      await more
    }
  } finally {
    for (const stop of stops) stop()
  }
}

/** All events, also those of other instances. */
async function followEvents(events: EventFeed, end: AbortSignal, notice: (event: StoredEvent) => void): Promise<void> {
  try {
    for await (const event of await events.follow({}, undefined, end)) notice(event)
  } catch {
    // Without the store no event can be read. The stream goes on without them.
  }
}
