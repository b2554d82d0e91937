import { type Static, Type } from 'typebox'
import { CAPABILITY_ACTIONS } from '../../model/capability.ts'
import { CONFLICTING_TYPES } from '../../model/finding.ts'
import { closed, oneOf } from './schema-parts.ts'

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
        denied: Type.Array(Type.Integer(), {
          description: "Ports of Drawbridge's own listeners, denied on every server.",
        }),
        deniedOn: Type.Record(Type.String(), Type.Array(Type.Integer()), {
          description: 'Ports denied on single servers: 80 and 443 on servers with an edge.',
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
    apply: Type.Object(
      { possible: Type.Boolean(), reasons: Type.Array(Type.String()) },
      { ...closed, description: 'Whether this installation can apply plans, or why it can only plan.' },
    ),
    version: Type.String(),
    configFile: Type.Optional(
      Type.String({
        description: 'The configuration file on the server, for `drawbridge resolve`. Only internal callers see it.',
      }),
    ),
  },
  { ...closed, title: 'Policy', description: 'The current policy.' },
)
export type PolicyBody = Static<typeof PolicyBody>
