import { type Static, Type } from 'typebox'
import { CAPABILITY_ACTIONS } from '../../model/capability.ts'
import { closed, oneOf, Time } from './schema-parts.ts'

const Address = Type.String({ examples: ['192.168.45.10'] })

export const TokenRequestBody = Type.Object(
  {
    planId: Type.String({ examples: ['plan_4c7p0wq9d2f6h8k1m3n5r7t9v0'] }),
    action: Type.Optional(oneOf(CAPABILITY_ACTIONS, { description: 'The action of the capability. Default: apply.' })),
  },
  closed,
)

export const CapabilityBody = Type.Object(
  {
    capability: Type.String({
      description: 'Shown only once. Send it in the header within five minutes. Never log or store it.',
    }),
    header: Type.Literal('x-deploy-capability'),
    planId: Type.String(),
    action: oneOf(CAPABILITY_ACTIONS),
    boundTo: Type.Object({ planId: Type.String(), action: oneOf(CAPABILITY_ACTIONS), ip: Address }, closed),
    expiresAt: Time,
    uses: Type.Literal(1),
  },
  { ...closed, title: 'Capability', description: 'Permits one run of the plan.' },
)
export type CapabilityBody = Static<typeof CapabilityBody>
