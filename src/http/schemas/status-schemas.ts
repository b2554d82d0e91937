import { type Static, Type } from 'typebox'
import { BADGE_GRAMMAR, NO_ANSWER_REASONS } from '../../model/badge.ts'
import { OUT_OF_STEP_CAUSES, SECONDARY_ENTRIES } from '../../model/host-status.ts'
import { MuteState } from './mute-schemas.ts'
import { closed, nullable, oneOf, Time } from './schema-parts.ts'

const BadgeText = Type.String({
  pattern: `^${BADGE_GRAMMAR}$`,
  examples: ['RUNNING', 'HTTP 502'],
  description: 'RUNNING, HTTP nnn, DOWN, NO DNS, CERT, DRIFT or PENDING.',
})

const ROW = {
  host: Type.String({ examples: ['hello.lab.test'] }),
  badge: BadgeText,
  server: nullable(
    Type.String({ description: "The id of the backend's server. Internal callers see its address if it has no id." }),
  ),
  managed: Type.Boolean({
    description: "False: the host is in the edge's configuration, but Drawbridge did not create it.",
  }),
  tls: Type.Boolean(),
  url: Type.String({ description: 'The address that a visitor opens.', examples: ['https://hello.lab.test/'] }),
  since: nullable(Time),
  checkedAt: nullable(Time),
  latencyMs: nullable(Type.Integer()),
  uptime24h: nullable(Type.Number({ minimum: 0, maximum: 1, description: 'The share of successful checks.' })),
  strip: Type.String({
    pattern: '^[0-9-]{48}$',
    description:
      'One character per half hour, oldest first. 9: all checks succeeded. 0 to 8: that many tenths. -: no checks.',
  }),
  latencies: Type.Array(Type.Integer(), { maxItems: 24, description: 'Milliseconds, oldest first.' }),
  certificate: nullable(
    Type.Object(
      {
        notAfter: Time,
        level: oneOf(['ok', 'warning', 'critical', 'expired']),
        issuer: Type.Optional(Type.String({ description: 'The name of the authority. Absent where it is not known.' })),
        names: Type.Optional(Type.Array(Type.String(), { description: 'At most 20.' })),
      },
      closed,
    ),
  ),
  expiresAt: nullable(Time),
  planId: Type.Optional(Type.String({ description: 'Only internal callers see it.' })),
  port: Type.Optional(Type.Integer({ description: 'The port of the backend. Only internal callers see it.' })),
  blocked: Type.Optional(
    Type.Boolean({
      description:
        'True: a rollback failed, and no run can change the host until `drawbridge resolve`. Only internal callers see it.',
    }),
  ),
  maintenance: Type.Optional(
    Type.Boolean({
      description: 'True: the edge answers visitors with the maintenance page. Only internal callers see it.',
    }),
  ),
  owner: Type.Optional(Type.String({ description: 'Who is responsible. Only internal callers see it.' })),
  note: Type.Optional(Type.String({ description: 'What the exposure is for. Only internal callers see it.' })),
  muted: Type.Optional(
    Type.Object(MuteState.properties, {
      ...closed,
      description:
        'The host is checked, but does not need attention, and its trouble causes no alert and no webhook. Absent if it is not muted. Only internal callers see it.',
    }),
  ),
  secondary: Type.Optional(
    oneOf(SECONDARY_ENTRIES, {
      description:
        'How the entry of the host stands on the Secondary. Only internal callers see it. Absent where it is not known.',
    }),
  ),
}

export const HostRowBody = Type.Object(ROW, { ...closed, title: 'HostRow', description: 'The state of a host.' })
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
          reason: nullable(oneOf(NO_ANSWER_REASONS, { description: 'Why the host did not answer.' })),
        },
        closed,
      ),
    ),
    configPath: nullable(
      Type.String({
        description:
          'The path of the file with its server block or its entry, never its content. A path that is not plain is a quoted JSON string.',
      }),
    ),
  },
  { ...closed, title: 'Health', description: 'The state of the host and its last check.' },
)
export type HealthBody = Static<typeof HealthBody>

export const HostQuery = Type.Object(
  { host: Type.String({ minLength: 1, maxLength: 1024, examples: ['hello.lab.test'] }) },
  closed,
)

export const HistoryQuery = Type.Object(
  {
    ...HostQuery.properties,
    days: Type.Optional(
      oneOf(['1', '7', '30', '90'], { description: 'Default: 1. Up to 7 days by hours, else by days.' }),
    ),
  },
  closed,
)

const HistorySlotBody = Type.Object(
  {
    at: Time,
    checks: Type.Integer(),
    uptime: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    latencyMs: nullable(Type.Integer({ description: 'The average.' })),
  },
  closed,
)
export type HistorySlotBody = Static<typeof HistorySlotBody>

const IncidentBody = Type.Object(
  {
    began: nullable(Type.String({ format: 'date-time', description: 'Null: before the first event that is kept.' })),
    ended: nullable(Type.String({ format: 'date-time', description: 'Null: it has not ended.' })),
    badges: Type.Array(BadgeText, { description: 'The badges of the host in that time, in the order they came.' }),
  },
  { ...closed, title: 'Incident' },
)

export const HistoryBody = Type.Object(
  {
    host: Type.String({ examples: ['hello.lab.test'] }),
    days: Type.Integer(),
    unit: oneOf(['hour', 'day']),
    from: Time,
    uptime: nullable(Type.Number({ minimum: 0, maximum: 1, description: 'The share of successful checks.' })),
    slots: Type.Array(HistorySlotBody, { description: 'Oldest first. An hour or day without a check is left out.' }),
    minutes: Type.Optional(
      Type.Array(HistorySlotBody, {
        description:
          'The last hour by minutes, oldest first, for one day; `latencyMs` is the longest of each. Absent where another instance checks.',
      }),
    ),
    lastGoodAt: nullable(Time),
    incidents: Type.Array(IncidentBody, { description: 'The times in which the host was not well, newest first.' }),
  },
  { ...closed, title: 'HostHistory', description: 'Uptime and latency by hours or days, and incidents.' },
)

export const HostsQuery = Type.Object(
  {
    search: Type.Optional(
      Type.String({ maxLength: 253, description: 'A part of a host or server. Upper and lower case are equal.' }),
    ),
    prefix: Type.Optional(Type.String({ maxLength: 253, description: 'The beginning of the name of a host.' })),
    badge: Type.Optional(Type.String({ maxLength: 200, description: 'One badge, or several separated by commas.' })),
    server: Type.Optional(Type.String({ maxLength: 64 })),
    managed: Type.Optional(oneOf(['true', 'false'])),
    muted: Type.Optional(oneOf(['true', 'false'], { description: 'Has no effect for public callers.' })),
    needsAttention: Type.Optional(
      oneOf(['true'], { description: 'Only hosts that are not well, or blocked, and are not muted.' }),
    ),
    sort: Type.Optional(oneOf(['host', 'badge', 'server', 'since', 'latency', 'uptime'])),
    order: Type.Optional(oneOf(['asc', 'desc'])),
    limit: Type.Optional(
      Type.String({
        pattern: '^(?:[1-9][0-9]{0,3}|10000)$',
        description: '1 to 10000; an answer has at most 500 hosts. Default: 100.',
      }),
    ),
    cursor: Type.Optional(
      Type.String({ pattern: '^[A-Za-z0-9_-]{1,1024}$', description: 'The `nextCursor` of the previous page.' }),
    ),
  },
  closed,
)
export type HostsQuery = Static<typeof HostsQuery>

const EdgeStandingBody = Type.Object(
  {
    server: Type.String({ examples: ['73'] }),
    inStep: Type.Boolean(),
    hosts: Type.Integer({ description: 'The number of hosts that the edge does not have as the store says.' }),
    unknown: Type.Integer({
      description: 'The number of hosts that this store does not know. They are never changed.',
    }),
    stray: Type.Array(Type.Object({ file: Type.String(), lines: Type.Integer() }, closed), {
      description:
        'Files that hosts share on the edge, and how many of their lines belong to no host. `file` is a path in the folder of the edge. These lines are drift of the edge and of no host; `drawbridge doctor` tells how to remove them.',
    }),
    outOfStep: nullable(Type.Object({ cause: oneOf(OUT_OF_STEP_CAUSES), since: Time, detail: Type.String() }, closed)),
  },
  { ...closed, title: 'EdgeStanding' },
)

const ServedPatternBody = Type.Object(
  {
    name: Type.String({
      description: 'As in server_name. A name that is not plain is a quoted JSON string.',
      examples: ['*.example.test'],
    }),
    kind: oneOf(['wildcard', 'pattern']),
    configPath: Type.String({ description: 'The path of the file with the server block.' }),
    line: Type.Integer(),
    tls: Type.Boolean(),
  },
  { ...closed, title: 'ServedPattern' },
)

export const HostsBody = Type.Object(
  {
    hosts: Type.Array(HostRowBody),
    total: Type.Integer({ description: 'The number of all hosts.' }),
    matched: Type.Integer({ description: 'The number of hosts that match the query.' }),
    nextCursor: nullable(Type.String()),
    counts: Type.Record(Type.String(), Type.Integer(), { description: 'The number of all hosts by badge.' }),
    servers: Type.Array(Type.String()),
    edges: Type.Optional(
      Type.Array(EdgeStandingBody, {
        description: 'How far each edge of this instance is from the store. Only internal callers see it.',
      }),
    ),
    patterns: Type.Optional(
      Type.Array(ServedPatternBody, {
        description:
          'Names of server blocks that stand for many hosts: wildcards and patterns. They are not checked. Only internal callers see them, on the first page. Absent if there are none.',
      }),
    ),
    at: Time,
  },
  { ...closed, title: 'Hosts', description: 'A page of hosts.' },
)
export type HostsBody = Static<typeof HostsBody>

export const HostChangeBody = Type.Union(
  [
    HostRowBody,
    Type.Object({ host: Type.String() }, { ...closed, description: '`gone`: the host is no longer in the list.' }),
    Type.Object(
      { edges: Type.Array(EdgeStandingBody) },
      { ...closed, description: '`edges`: how far each edge is from the store. Only internal callers get it.' },
    ),
    Type.Object(
      { planId: Type.String() },
      { ...closed, description: '`plan`: the plan has changed, or one of its runs. Only internal callers get it.' },
    ),
    Type.Object(
      { seq: Type.Integer() },
      { ...closed, description: '`event`: there are events up to this position. Only internal callers get it.' },
    ),
    Type.Object({ at: Time }, { ...closed, description: '`alive`: nothing is missing up to this time. Every 10 s.' }),
  ],
  { title: 'HostChange', description: 'The event `row` has the row of a host that is new or has changed.' },
)

export const NotModified = Type.Null({ description: 'Nothing has changed since the answer with this ETag.' })
