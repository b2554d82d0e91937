import { type TProperties, type TSchemaOptions, Type } from 'typebox'

/**
 * The answers of the tools. Every object is open: clients validate answers against these schemas, and answers of the API have
 * members that are not listed here.
 */
const open = (members: TProperties, options: TSchemaOptions = {}) => Type.Object(members, options)

const text = (description?: string) => Type.String(description === undefined ? {} : { description })
const texts = () => Type.Array(Type.String())
const orNull = (type: 'string' | 'number' | 'boolean', description?: string) =>
  Type.Unsafe({ type: [type, 'null'], ...(description !== undefined && { description }) })
const maybe = (description: string) => Type.Optional(text(description))

/** What every answer about a host has. Most members need no word: their names say it. */
const HOST_ROW = {
  host: text(),
  badge: text('RUNNING, HTTP nnn, DOWN, NO DNS, CERT, DRIFT or PENDING'),
}

export const PolicyShape = open({
  servers: open({ targets: texts() }),
  zones: texts(),
  ports: open({ allowed: Type.Array(Type.Array(Type.Number())), denied: Type.Array(Type.Number()) }),
  caller: open({ network: text(), may: texts() }),
})

export const HostsShape = open({
  hosts: Type.Array(
    open({
      ...HOST_ROW,
      managed: Type.Optional(Type.Boolean({ description: 'false: not exposed by Drawbridge' })),
      blocked: Type.Optional(Type.Boolean({ description: 'true: no tool can change it; call diagnose_host' })),
    }),
  ),
  matched: Type.Number(),
  nextCursor: orNull('string'),
})

export const HealthShape = open({
  ...HOST_ROW,
  managed: Type.Boolean(),
  since: orNull('string', 'When it got this badge'),
  expiresAt: orNull('string', 'When the exposure removes itself'),
  planId: maybe('Its applied plan'),
})

export const WaitedShape = open({ ...HOST_ROW, reached: Type.Boolean() })

export const DiagnosisShape = open({
  ...HOST_ROW,
  cause: open({ code: text(), level: text('good, warning or bad'), sentence: text(), advice: text() }),
})

export const PlanShape = open({
  planId: text('The argument of apply_plan'),
  state: text(),
  host: text(),
  checks: Type.Array(open({})),
  changes: Type.Array(open({})),
  steps: texts(),
  network: maybe('public: anybody may have made the plan. Ask a person before you apply it'),
})

export const PlansShape = open({
  plans: Type.Array(open({ planId: text(), state: text(), host: text() })),
  nextCursor: orNull('string'),
})

export const EventsShape = open({
  events: Type.Array(open({ type: text(), timestamp: text() }), { description: 'Oldest first' }),
})

export const DriftShape = open({
  planId: text(),
  differences: Type.Array(
    open({
      field: text(),
      expected: text(),
      found: text(),
      overwrite: Type.Boolean({ description: 'true: changed outside Drawbridge; a repair would overwrite it' }),
      since: maybe('When its file was last written'),
    }),
  ),
})

/** Apply, remove, repair, accept, renew, extend: what became of the plan. */
export const DoneShape = open({ planId: text(), state: maybe('applied, removed or released') })

export const MutedShape = open({ host: text() })
