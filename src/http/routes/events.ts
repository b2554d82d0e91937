import { Problem } from '../../model/errors.ts'
import { EVENT_TYPES, type EventType, eventJson, type StoredEvent } from '../../model/event.ts'
import type { EventFeed, EventFilter } from '../../notify/feed.ts'
import type { App } from '../app.ts'
import { EventBody, EventQuery } from '../event-schemas.ts'
import { lastEventId, type SendEvents, type ServerSentEvent } from '../event-stream.ts'
import { eventStream } from '../schema-parts.ts'
import { problems } from '../schemas.ts'

/** Everything that happens, to callers inside. A client that comes back with Last-Event-ID misses nothing. */
export function eventRoutes(app: App, feed: EventFeed, send: SendEvents): void {
  app.addHook('preClose', async () => feed.close())
  app.get(
    '/api/events',
    {
      config: { inside: true },
      schema: {
        operationId: 'followEvents',
        tags: ['events'],
        summary: 'Events as they happen (server-sent events, internal network only)',
        querystring: EventQuery,
        response: {
          200: eventStream('Each event as it happens.', EventBody),
          ...problems('invalid_request', 'internal_network_required'),
        },
      },
    },
    (request, reply) => {
      const { query, headers } = request
      const after = placeIn(lastEventId(headers['last-event-id']) ?? query.after)
      const filter = filterOf(query)
      return send(request, reply, async (gone) => toServerSent(await feed.follow(filter, after, gone)))
    },
  )
}

async function* toServerSent(events: AsyncGenerator<StoredEvent, void>): AsyncGenerator<ServerSentEvent, void> {
  for await (const event of events) yield { id: String(event.seq), event: event.type, data: eventJson(event) }
}

function placeIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^[0-9]{1,15}$/.test(text)) return Number(text)
  throw notAllowed('last-event-id', 'must be the id of an event of this stream')
}

function filterOf({ type, host }: { type?: string; host?: string }): EventFilter {
  const types = type?.split(',')
  if (types && !types.every(isEventType)) throw notAllowed('type', `must be among ${EVENT_TYPES.join(', ')}`)
  return { types: types && new Set(types), hosts: host === undefined ? undefined : new Set(host.split(',')) }
}

const isEventType = (text: string): text is EventType => (EVENT_TYPES as readonly string[]).includes(text)

const notAllowed = (field: string, message: string): Problem =>
  new Problem('invalid_request', `The request is not valid: ${field} ${message}.`, { errors: [{ field, message }] })
