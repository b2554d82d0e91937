import { type TSchema, Type } from 'typebox'
import { closed } from './schema-parts.ts'

export const StatusBody = Type.Object({ status: Type.Literal('ok') }, { ...closed, description: 'The service runs.' })

export const ReadyBody = Type.Object(
  {
    status: Type.Union([Type.Literal('ok'), Type.Literal('degraded')]),
    warnings: Type.Optional(Type.Array(Type.String(), { description: 'Problems that an administrator must fix.' })),
  },
  {
    ...closed,
    description:
      'The service answers requests. `degraded`: it refuses some, or cannot bring an edge into step, until the problems in `warnings` are fixed.',
  },
)

export const MetricsText = {
  description: 'Metrics in the Prometheus exposition format.',
  content: { 'text/plain': { schema: Type.String() } },
} as unknown as TSchema
