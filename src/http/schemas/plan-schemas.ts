import { type Static, type TSchema, Type } from 'typebox'
import { CAPABILITY_ACTIONS } from '../../model/capability.ts'
import { ERRORS, type ErrorCode } from '../../model/errors.ts'
import { PLAN_ID, PLAN_STATES } from '../../model/exposure.ts'
import { CONFLICTING_TYPES } from '../../model/finding.ts'
import { HEALTH_GRAMMAR, LONGEST_HEALTH, SERVER_GRAMMAR } from '../../plan/desired.ts'
import { LastRunBody, RunBody } from './run-schemas.ts'
import { CheckBody, CODES, closed, oneOf, open, Time } from './schema-parts.ts'

/** Every body, in and out. These schemas validate requests, shape answers and are the OpenAPI document. */
const Address = Type.String({ examples: ['192.168.45.10'] })

export const ExposureRequestBody = Type.Object(
  {
    zone: Type.String({
      format: 'dns-zone',
      maxLength: 254,
      examples: ['lab.test'],
      description: 'A zone of the policy, compared without case.',
    }),
    subdomain: Type.String({
      format: 'dns-label',
      maxLength: 63,
      examples: ['hello'],
      description: 'One label, placed under the zone.',
    }),
    server: Type.String({
      pattern: SERVER_GRAMMAR,
      examples: ['25'],
      description: 'The target server: one of servers.targets of the policy.',
    }),
    port: Type.Integer({
      examples: [3000],
      description: "The backend's port on the target server, inside the port policy.",
    }),
    health: Type.String({
      pattern: HEALTH_GRAMMAR,
      maxLength: LONGEST_HEALTH,
      examples: ['/healthz'],
      description: 'The path that must answer with HTTP 2xx.',
    }),
    tls: Type.Boolean({ description: 'Whether HTTPS is to be set up.' }),
    expiresIn: Type.Optional(
      Type.Integer({
        minimum: 300,
        maximum: 2_592_000,
        description: 'Seconds after which the exposure removes itself.',
      }),
    ),
  },
  { ...closed, title: 'ExposureRequest', description: 'One name bound to one backend.' },
)

const ChangeBody = Type.Object(
  { kind: oneOf(['certificate', 'proxy', 'dns']), action: Type.String() },
  { ...open, title: 'Change', description: 'One thing that an apply would do, in order.' },
)

export const PlanBody = Type.Object(
  {
    planId: Type.String({ pattern: PLAN_ID.source, examples: ['plan_4c7p0wq9d2f6h8k1m3n5r7t9v0'] }),
    state: oneOf(PLAN_STATES),
    host: Type.String({ examples: ['hello.lab.test'] }),
    url: Type.String({ examples: ['https://hello.lab.test/'] }),
    request: ExposureRequestBody,
    checks: Type.Array(CheckBody),
    changes: Type.Array(ChangeBody),
    digest: Type.String({
      pattern: '^sha256:[0-9a-f]{64}$',
      description: 'Covers the request and the changes: an apply does exactly this.',
    }),
    createdAt: Time,
    expiresAt: Time,
    createdBy: Type.Optional(Type.String({ description: 'The address it was asked from; told inside only.' })),
    lastRun: Type.Optional(LastRunBody),
    runs: Type.Optional(Type.Array(RunBody, { description: 'Every run, oldest first.' })),
  },
  { ...closed, title: 'Plan', description: 'The plan.' },
)
export type PlanBody = Static<typeof PlanBody>

const PlanSummaryBody = Type.Pick(
  PlanBody,
  ['planId', 'state', 'host', 'url', 'request', 'createdAt', 'expiresAt', 'createdBy'],
  { ...closed, title: 'PlanSummary' },
)

/** Query values come as text. */
export const PlanPageQuery = Type.Object(
  {
    limit: Type.Optional(Type.String({ pattern: '^(?:[1-9][0-9]?|1[0-9][0-9]|200)$', description: '1 to 200; 50.' })),
    cursor: Type.Optional(
      Type.String({ pattern: `^[0-9]{1,15}\\.${PLAN_ID.source.slice(1)}`, description: 'nextCursor.' }),
    ),
  },
  closed,
)

export const PlanPageBody = Type.Object(
  { plans: Type.Array(PlanSummaryBody), nextCursor: Type.Union([Type.String(), Type.Null()]) },
  { ...closed, title: 'PlanPage', description: 'A page of plans, newest first.' },
)
export type PlanPageBody = Static<typeof PlanPageBody>

/** A malformed id is not found, too: so no schema says what an id looks like. */
export const PlanIdParams = Type.Object({ planId: Type.String() }, closed)

export const TokenRequestBody = Type.Object(
  {
    planId: Type.String({ examples: ['plan_4c7p0wq9d2f6h8k1m3n5r7t9v0'] }),
    action: Type.Optional(
      oneOf(CAPABILITY_ACTIONS, { description: 'What the capability is for; apply when left out.' }),
    ),
  },
  closed,
)

export const CapabilityBody = Type.Object(
  {
    capability: Type.String({
      description: 'Shown once. Send it in the header within five minutes; never log or store it.',
    }),
    header: Type.Literal('x-deploy-capability'),
    planId: Type.String(),
    action: oneOf(CAPABILITY_ACTIONS),
    boundTo: Type.Object({ planId: Type.String(), action: oneOf(CAPABILITY_ACTIONS), ip: Address }, closed),
    expiresAt: Time,
    uses: Type.Literal(1),
  },
  { ...closed, title: 'Capability', description: 'The right to run the plan once.' },
)
export type CapabilityBody = Static<typeof CapabilityBody>

const Range = Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 })
const Budget = Type.Object(
  { plan: Type.Integer(), diagnose: Type.Integer(), read: Type.Integer(), failedCredential: Type.Integer() },
  { ...closed, description: 'Requests per address and minute.' },
)

export const PolicyBody = Type.Object(
  {
    flow: oneOf(['capability', 'legacy']),
    servers: Type.Object(
      {
        targets: Type.Array(Type.String()),
        primary: Type.String(),
        secondary: Type.Union([Type.String(), Type.Null()]),
      },
      closed,
    ),
    zones: Type.Array(Type.String()),
    internalNetworks: Type.Array(Type.String()),
    capability: Type.Object(
      { header: Type.String(), ttlSeconds: Type.Integer(), uses: Type.Integer(), boundTo: Type.Array(Type.String()) },
      closed,
    ),
    adminToken: Type.Object({ accepted: Type.Boolean(), header: Type.String() }, closed),
    plan: Type.Object({ ttlSeconds: Type.Integer() }, closed),
    ports: Type.Object(
      {
        allowed: Type.Array(Range),
        denied: Type.Array(Type.Integer(), { description: 'Our own listeners: denied on every server.' }),
        deniedOn: Type.Record(Type.String(), Type.Array(Type.Integer()), {
          description: 'Denied on single servers: 80 and 443 where an edge runs.',
        }),
      },
      closed,
    ),
    health: Type.Object({ pattern: Type.String(), timeoutSeconds: Type.Integer() }, closed),
    rateLimits: Type.Object({ public: Budget, internal: Budget }, closed),
    conflictingRecordTypes: Type.Array(oneOf(CONFLICTING_TYPES)),
    callOrder: Type.Array(Type.String()),
    caller: Type.Object(
      {
        network: oneOf(['internal', 'public']),
        may: Type.Array(oneOf(['read', 'plan', 'token', ...CAPABILITY_ACTIONS])),
      },
      closed,
    ),
    version: Type.String(),
  },
  { ...closed, title: 'Policy', description: 'The policy in force.' },
)
export type PolicyBody = Static<typeof PolicyBody>

export const StatusBody = Type.Object({ status: Type.Literal('ok') }, { ...closed, description: 'All is well.' })

export const ReadyBody = Type.Object(
  {
    status: Type.Union([Type.Literal('ok'), Type.Literal('degraded')]),
    warnings: Type.Optional(Type.Array(Type.String(), { description: 'What an administrator has to put right.' })),
  },
  {
    ...closed,
    description: 'Requests are answered. `degraded`: some are refused until the `warnings` are dealt with.',
  },
)

/** Answers every route can give, whatever it does. */
const COMMON: readonly ErrorCode[] = [
  'host_not_allowed',
  'origin_not_allowed',
  'rate_limited',
  'unavailable',
  'internal_error',
]

/** The problems a route can answer with, by status: the response part of its schema. */
export function problems(...codes: ErrorCode[]): Record<string, TSchema> {
  const byStatus = Map.groupBy([...codes, ...COMMON], (code) => ERRORS[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      String(status),
      {
        description: ofStatus.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join(' '),
        // Every problem is written in one place: routes need not know its shape, only the document tells it.
        content: { 'application/problem+json': { schema: { type: 'object', [CODES]: ofStatus } } },
      } as unknown as TSchema,
    ]),
  )
}
