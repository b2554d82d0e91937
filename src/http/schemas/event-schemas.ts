import { type Static, type TSchema, Type } from 'typebox'
import { EVENT_TYPES } from '../../model/event.ts'
import { closed, oneOf, Time } from './schema-parts.ts'

const Fact = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])

/** One event, the same in the stream and in a webhook's body. */
export const EventBody = Type.Object(
  {
    id: Type.String({ examples: ['evt_4f1c2b7a9d0e3f5a6b8c7d9e0f'] }),
    seq: Type.Integer({ description: 'Its place among all events.' }),
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

export const EventQuery = Type.Object(
  {
    type: Type.Optional(
      Type.String({ pattern: LIST, maxLength: 512, description: 'Only these types, separated by commas.' }),
    ),
    host: Type.Optional(
      Type.String({ pattern: LIST, maxLength: 2048, description: 'Only these hosts, separated by commas.' }),
    ),
    after: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,15}$',
        description: 'The place to go on from, where Last-Event-ID is not sent.',
      }),
    ),
  },
  closed,
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
          'Flat. `right` tells by what right it was done: `capability`, `admin_token`, `capability_and_admin_token`, `network`, `schedule` or `console`.',
      }),
    ),
    previous: Type.String({ description: 'The hash of the line before.' }),
    hash: Type.String(),
  },
  { ...closed, title: 'AuditLine' },
)

export const AuditPageQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({ pattern: '^[0-9]{1,15}$', description: 'Lines after this place; left out, the newest lines.' }),
    ),
    limit: Type.Optional(
      Type.String({
        pattern: '^(?:[1-9][0-9]{0,2}|1000)$',
        description: '1 to 1000, of which an answer has 500 at most; 100.',
      }),
    ),
  },
  closed,
)

export const AuditPageBody = Type.Object(
  {
    lines: Type.Array(AuditLineBody, { description: 'Oldest first.' }),
    head: Type.Integer({ description: 'The place of the newest line.' }),
    nextAfter: Type.Union([Type.Integer(), Type.Null()], { description: 'Where to go on; null at the end.' }),
  },
  { ...closed, title: 'AuditPage', description: 'Lines of the audit.' },
)
export type AuditPageBody = Static<typeof AuditPageBody>

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const WebhookBody = Type.Object(
  {
    name: Type.String(),
    receiver: Type.String({ description: 'Where it goes, without path and query.' }),
    events: nullable(Type.Array(Type.String())),
    hosts: nullable(Type.Array(Type.String())),
    delivered: Type.Integer(),
    pending: Type.Integer(),
    dead: Type.Integer({ description: 'Events that were given up.' }),
    failing: Type.Boolean({ description: 'Something that is pending was tried before, in vain.' }),
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
      { description: 'The newest twenty.' },
    ),
  },
  { ...closed, title: 'Webhook' },
)

export const WebhooksBody = Type.Object(
  { webhooks: Type.Array(WebhookBody) },
  { ...closed, title: 'Webhooks', description: 'Every configured webhook.' },
)
