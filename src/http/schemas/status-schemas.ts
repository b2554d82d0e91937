import { type Static, type TSchema, Type } from 'typebox'
import { BADGE_GRAMMAR, NO_ANSWER_REASONS } from '../../model/badge.ts'
import { closed, oneOf, Time } from './schema-parts.ts'

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])

const BadgeText = Type.String({
  pattern: `^${BADGE_GRAMMAR}$`,
  examples: ['RUNNING', 'HTTP 502'],
  description: 'RUNNING, HTTP nnn, DOWN, NO DNS, CERT, DRIFT or PENDING.',
})

const ROW = {
  host: Type.String({ examples: ['hello.lab.test'] }),
  badge: BadgeText,
  server: nullable(
    Type.String({ description: 'The id of the server behind it; for callers inside its address where it has no id.' }),
  ),
  managed: Type.Boolean({ description: "False: it stands in the edge's own configuration and was not made here." }),
  tls: Type.Boolean(),
  since: nullable(Time),
  checkedAt: nullable(Time),
  latencyMs: nullable(Type.Integer()),
  uptime24h: nullable(Type.Number({ minimum: 0, maximum: 1, description: 'Share of the checks that went well.' })),
  strip: Type.String({
    pattern: '^[0-9-]{48}$',
    description:
      'One character per half hour, oldest first: 9 all checks went well, 0 to 8 tenths of them, - none made.',
  }),
  latencies: Type.Array(Type.Integer(), { maxItems: 24, description: 'Milliseconds, oldest first.' }),
  certificate: nullable(
    Type.Object({ notAfter: Time, level: oneOf(['ok', 'warning', 'critical', 'expired']) }, closed),
  ),
  expiresAt: nullable(Time),
  planId: Type.Optional(Type.String({ description: 'For callers inside.' })),
}

export const HostRowBody = Type.Object(ROW, { ...closed, title: 'HostRow', description: 'How a host does.' })
export type HostRowBody = Static<typeof HostRowBody>

export const HealthBody = Type.Object(
  {
    ...ROW,
    lastCheck: nullable(
      Type.Object(
        {
          at: Time,
          ok: Type.Boolean(),
          httpStatus: nullable(Type.Integer()),
          latencyMs: nullable(Type.Integer()),
          reason: nullable(oneOf(NO_ANSWER_REASONS, { description: 'Why there was no answer.' })),
        },
        closed,
      ),
    ),
    configPath: nullable(
      Type.String({
        description:
          'The file with its server block. Never its content. A path that is not plain is a quoted JSON string.',
      }),
    ),
  },
  { ...closed, title: 'Health', description: 'How the host does, and when it was last looked at.' },
)
export type HealthBody = Static<typeof HealthBody>

export const HostQuery = Type.Object(
  { host: Type.String({ minLength: 1, maxLength: 1024, examples: ['hello.lab.test'] }) },
  closed,
)

export const HostsQuery = Type.Object(
  {
    search: Type.Optional(Type.String({ maxLength: 253, description: 'Part of a host or server, without case.' })),
    badge: Type.Optional(Type.String({ maxLength: 200, description: 'One badge, or several with a comma between.' })),
    server: Type.Optional(Type.String({ maxLength: 64 })),
    managed: Type.Optional(oneOf(['true', 'false'])),
    sort: Type.Optional(oneOf(['host', 'badge', 'server', 'since', 'latency', 'uptime'])),
    order: Type.Optional(oneOf(['asc', 'desc'])),
    limit: Type.Optional(
      Type.String({
        pattern: '^(?:[1-9][0-9]{0,3}|10000)$',
        description: '1 to 10000, of which an answer has 500 at most; 100.',
      }),
    ),
    cursor: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,1024}$', description: 'nextCursor.' })),
  },
  closed,
)
export type HostsQuery = Static<typeof HostsQuery>

export const HostsBody = Type.Object(
  {
    hosts: Type.Array(HostRowBody),
    total: Type.Integer({ description: 'Of all hosts.' }),
    matched: Type.Integer({ description: 'Of those that fit the query.' }),
    nextCursor: nullable(Type.String()),
    counts: Type.Record(Type.String(), Type.Integer(), { description: 'How many of all hosts have each badge.' }),
    servers: Type.Array(Type.String()),
    at: Time,
  },
  { ...closed, title: 'Hosts', description: 'A page of hosts.' },
)
export type HostsBody = Static<typeof HostsBody>

export const NotModified = Type.Null({ description: 'As it was when If-None-Match was given its ETag.' })

export const MetricsText = {
  description: 'The exposition format of Prometheus.',
  content: { 'text/plain': { schema: Type.String() } },
} as unknown as TSchema
