import { type Static, type TSchema, Type } from 'typebox'
import { EVENT_TYPES } from '../../model/event.ts'
import { closed, oneOf, Time } from './schema-parts.ts'

const Fact = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])

/** One event, in the stream and in a webhook body. */
export const EventBody = Type.Object(
  {
    id: Type.String({ examples: ['evt_4f1c2b7a9d0e3f5a6b8c7d9e0f'] }),
    seq: Type.Integer({ description: 'The position among all events.' }),
    type: oneOf(EVENT_TYPES),
    timestamp: Time,
    data: Type.Object(
      {
        host: Type.String({ examples: ['hello.lab.test'] }),
        planId: Type.Optional(Type.String()),
        facts: Type.Record(Type.String(), Fact),
      },
      closed,
    ),
  },
  { ...closed, title: 'Event' },
)

const LIST = '^[a-z0-9._-]+(?:,[a-z0-9._-]+)*$'

const SELECTED = {
  type: Type.Optional(
    Type.String({ pattern: LIST, maxLength: 512, description: 'Only these types, separated by commas.' }),
  ),
  host: Type.Optional(
    Type.String({ pattern: LIST, maxLength: 2048, description: 'Only these hosts, separated by commas.' }),
  ),
}

export const EventQuery = Type.Object(
  {
    ...SELECTED,
    after: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,15}$',
        description: 'The position to resume from, if Last-Event-ID is not sent.',
      }),
    ),
  },
  closed,
)

export const RecentEventsQuery = Type.Object(
  {
    ...SELECTED,
    before: Type.Optional(
      Type.String({ pattern: '^[0-9]{1,15}$', description: 'Only events before this position. Default: the newest.' }),
    ),
    limit: Type.Optional(
      Type.String({
        pattern: '^(?:[1-9][0-9]{0,2}|1000)$',
        description: '1 to 1000; an answer has at most 500 events. Default: 100.',
      }),
    ),
  },
  closed,
)

export const RecentEventsBody = Type.Object(
  {
    events: Type.Array(EventBody, { description: 'Oldest first.' }),
    head: Type.Integer({ description: 'The position of the newest event: where a stream goes on.' }),
    nextBefore: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The next value of `before`. Null at the beginning. A page may be empty and still have one.',
    }),
  },
  { ...closed, title: 'RecentEvents', description: 'A page of events.' },
)

const AuditLineBody = Type.Object(
  {
    seq: Type.Integer(),
    at: Time,
    actor: Type.String(),
    network: oneOf(['internal', 'public', 'self']),
    action: Type.String(),
    outcome: oneOf(['ok', 'refused', 'failed', 'rolled_back', 'blocked']),
    code: Type.Optional(Type.String()),
    planId: Type.Optional(Type.String()),
    host: Type.Optional(Type.String()),
    facts: Type.Optional(
      Type.Record(Type.String(), Fact, {
        description:
          'A flat object. `right` says what authorized the action: `capability`, `admin_token`, `capability_and_admin_token`, `network`, `schedule` or `console`.',
      }),
    ),
    previous: Type.String({ description: 'The hash of the previous line.' }),
    hash: Type.String(),
  },
  { ...closed, title: 'AuditLine' },
)

export const AuditPageQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({ pattern: '^[0-9]{1,15}$', description: 'Lines after this position. Default: the newest lines.' }),
    ),
    limit: Type.Optional(
      Type.String({
        pattern: '^(?:[1-9][0-9]{0,2}|1000)$',
        description: '1 to 1000; an answer has at most 500 lines. Default: 100.',
      }),
    ),
  },
  closed,
)

export const AuditPageBody = Type.Object(
  {
    lines: Type.Array(AuditLineBody, { description: 'Oldest first.' }),
    head: Type.Integer({ description: 'The position of the newest line.' }),
    nextAfter: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The next value of `after`. Null at the end.',
    }),
  },
  { ...closed, title: 'AuditPage', description: 'A page of audit lines.' },
)
export type AuditPageBody = Static<typeof AuditPageBody>

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const WebhookBody = Type.Object(
  {
    name: Type.String(),
    receiver: Type.String({ description: 'The origin of the receiver, without path and query.' }),
    events: nullable(Type.Array(Type.String())),
    hosts: nullable(Type.Array(Type.String())),
    delivered: Type.Integer(),
    pending: Type.Integer(),
    dead: Type.Integer({ description: 'The number of abandoned events.' }),
    failing: Type.Boolean({ description: 'At least one pending event has failed before.' }),
    lastDeliveredAt: nullable(Time),
    lastFailedAt: nullable(Time),
    lastFault: nullable(Type.String()),
    deadLetters: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          type: Type.String(),
          host: Type.String(),
          at: Time,
          tries: Type.Integer(),
          fault: Type.String(),
        },
        closed,
      ),
      { description: 'The twenty newest.' },
    ),
  },
  { ...closed, title: 'Webhook' },
)

export const WebhooksBody = Type.Object(
  { webhooks: Type.Array(WebhookBody) },
  { ...closed, title: 'Webhooks', description: 'Every configured webhook.' },
)
