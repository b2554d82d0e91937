import type { Caller } from '../../authorize/caller.ts'
import { Problem } from '../../model/errors.ts'
import { EVENT_TYPES, type EventType, eventJson, type StoredEvent } from '../../model/event.ts'
import type { EventFeed, EventFilter } from '../../notify/event-feed.ts'
import type { WebhookReport } from '../../notify/webhook-report.ts'
import type { PlanProgress, ProgressEvent } from '../../usecases/progress.ts'
import type { App } from '../app.ts'
import { EventBody, EventQuery, RecentEventsBody, RecentEventsQuery, WebhooksBody } from '../schemas/event-schemas.ts'
import { PlanIdParams } from '../schemas/plan-schemas.ts'
import { problems } from '../schemas/problem-schemas.ts'
import { ProgressBody } from '../schemas/run-schemas.ts'
import { eventStream, pageLimit } from '../schemas/schema-parts.ts'
import { lastEventId, type SendEvents, type ServerSentEvent, STREAMED } from '../streams/event-stream.ts'
import { tellAge, type Unconfirmed } from './age.ts'

/** Streams all events to internal callers. A client that resumes with Last-Event-ID misses none. */
export function eventRoutes(app: App, feed: EventFeed, send: SendEvents, unconfirmedMs: Unconfirmed): void {
  app.addHook('preClose', async () => feed.close())
  app.get(
    '/api/events',
    {
      ...STREAMED,
      config: { internalOnly: true },
      schema: {
        operationId: 'followEvents',
        tags: ['events'],
        summary: 'Stream events as they happen (server-sent events, internal network only)',
        querystring: EventQuery,
        response: {
          200: eventStream('Each event as it happens.', EventBody),
          ...problems('invalid_request', 'internal_network_required'),
        },
      },
    },
    (request, reply) => {
      const { query, headers } = request
      const after = parsePosition(lastEventId(headers['last-event-id']) ?? query.after)
      const filter = filterOf(query)
      return send(request, reply, async (gone) => {
        const events = await feed.follow(filter, after, gone)
        tellAge(reply, unconfirmedMs())
        return toServerSent(events)
      })
    },
  )
}

/** Lists past events to internal callers, the newest first of all. */
export function recentEventRoutes(app: App, feed: EventFeed, unconfirmedMs: Unconfirmed): void {
  app.get(
    '/api/events/recent',
    {
      config: { internalOnly: true },
      schema: {
        operationId: 'listEvents',
        tags: ['events'],
        summary: 'The newest events (internal network only)',
        querystring: RecentEventsQuery,
        response: { 200: RecentEventsBody, ...problems('invalid_request', 'internal_network_required') },
      },
    },
    async ({ query }, reply) => {
      const before = query.before === undefined ? undefined : Number(query.before)
      const found = await feed.newest(filterOf(query), { before, limit: pageLimit(query.limit, 100) })
      tellAge(reply, unconfirmedMs())
      return { events: found.events.map(eventJson), head: found.head, nextBefore: found.nextBefore ?? null }
    },
  )
}

async function* toServerSent(events: AsyncGenerator<StoredEvent, void>): AsyncGenerator<ServerSentEvent, void> {
  for await (const event of events) yield { id: String(event.seq), event: event.type, data: eventJson(event) }
}

function parsePosition(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^[0-9]{1,15}$/.test(text)) return Number(text)
  throw notAllowed('last-event-id', 'must be the id of an event of this stream')
}

function filterOf({ type, host }: { type?: string; host?: string }): EventFilter {
  const types = type?.split(',')
  if (types && !types.every(isEventType)) throw notAllowed('type', `must be one or more of ${EVENT_TYPES.join(', ')}`)
  return { types: types && new Set(types), hosts: host === undefined ? undefined : new Set(host.split(',')) }
}

const isEventType = (text: string): text is EventType => (EVENT_TYPES as readonly string[]).includes(text)

const notAllowed = (field: string, message: string): Problem =>
  new Problem('invalid_request', `The request is not valid: ${field} ${message}.`, { errors: [{ field, message }] })

/**
 * Streams the steps of a plan's run as they start and end; public callers get only the end. A client that resumes with
 * Last-Event-ID misses none.
 */
export function planEventRoutes(app: App, progress: PlanProgress, send: SendEvents, unconfirmedMs: Unconfirmed): void {
  app.addHook('preClose', async () => progress.close())
  app.get(
    '/api/deploy/plans/:planId/events',
    {
      ...STREAMED,
      schema: {
        operationId: 'followPlan',
        tags: ['deploy'],
        summary: "Stream a plan's steps as they start and end; public callers get only the end (server-sent events)",
        params: PlanIdParams,
        response: {
          200: eventStream(
            'Each step as it starts and ends, and the end of the run. Public callers get only the end.',
            ProgressBody,
          ),
          ...problems('plan_not_found'),
        },
      },
    },
    (request, reply) => {
      const { params, headers, caller } = request
      const last = lastEventId(headers['last-event-id'])
      return send(request, reply, async (gone) => {
        const events = await progress.follow(params.planId, last, gone)
        tellAge(reply, unconfirmedMs())
        return planEventOf(events, caller)
      })
    },
  )
}

async function* planEventOf(
  events: AsyncGenerator<ProgressEvent, void>,
  { network }: Caller,
): AsyncGenerator<ServerSentEvent, void> {
  for await (const { id, name, ...data } of events) {
    // Public callers see the state of a plan and not its runs.
    if (network === 'public' && name !== 'end') continue
    yield { id, event: name, data }
  }
}

/** The state of every webhook and its dead letters, for internal callers. */
export function webhookRoutes(app: App, report: () => Promise<readonly WebhookReport[]>): void {
  app.get(
    '/api/webhooks',
    {
      config: { internalOnly: true },
      schema: {
        operationId: 'listWebhooks',
        tags: ['events'],
        summary: 'List webhooks with their delivery state and dead letters (internal network only)',
        response: { 200: WebhooksBody, ...problems('internal_network_required') },
      },
    },
    async () => ({ webhooks: (await report()).map(webhookBody) }),
  )
}

const webhookBody = ({
  lastDeliveredAt,
  lastFailedAt,
  lastFault,
  deadLetters,
  events,
  hosts,
  ...report
}: WebhookReport) => ({
  ...report,
  events: events && [...events],
  hosts: hosts && [...hosts],
  lastDeliveredAt: time(lastDeliveredAt),
  lastFailedAt: time(lastFailedAt),
  lastFault: lastFault ?? null,
  deadLetters: deadLetters.map(({ at, ...letter }) => ({ ...letter, at: new Date(at).toISOString() })),
})

const time = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString())
