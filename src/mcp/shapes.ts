import { type TProperties, type TSchemaOptions, Type } from 'typebox'

/**
 * The answers of the tools. Every object is open: clients validate answers against these schemas, and answers of the API have
 * members that are not listed here.
 */
const open = (members: TProperties, options: TSchemaOptions = {}) =>
  Type.Object(members, { ...options, additionalProperties: {} })

const text = (description?: string) => Type.String(description === undefined ? {} : { description })
const texts = () => Type.Array(Type.String())
const orNull = (type: 'string' | 'number' | 'boolean', description?: string) =>
  Type.Unsafe({ type: [type, 'null'], ...(description !== undefined && { description }) })
const maybe = (description: string) => Type.Optional(text(description))

const Step = open({ name: text(), status: text(), ms: Type.Number() })
const Check = open({ name: text(), status: text(), detail: text() })
const Change = open({ kind: text(), action: text() })

const HOST_ROW = {
  host: text(),
  badge: text('RUNNING, HTTP nnn, DOWN, NO DNS, CERT, DRIFT or PENDING'),
  server: orNull('string'),
  managed: Type.Boolean({ description: 'False: Drawbridge did not expose the host and cannot remove it' }),
  tls: Type.Boolean(),
  since: orNull('string', 'When the host got this badge'),
  latencyMs: orNull('number'),
  uptime24h: orNull('number'),
  expiresAt: orNull('string', 'When the exposure is removed automatically'),
  planId: maybe('The argument of remove_exposure and repair_exposure. Present for callers in the internal network'),
  blocked: Type.Optional(
    Type.Boolean({
      description:
        'True: the last run could not be undone, and no tool can change the host. diagnose_host tells what a person has to do',
    }),
  ),
  maintenance: Type.Optional(Type.Boolean({ description: 'True: visitors get the maintenance page' })),
  owner: maybe('Who is responsible, as people have written it'),
  note: maybe('What the exposure is for, as people have written it'),
}

export const PolicyShape = open({
  flow: text(),
  servers: open({ targets: texts(), primary: text(), secondary: orNull('string') }),
  zones: texts(),
  ports: open({ allowed: Type.Array(Type.Array(Type.Number())), denied: Type.Array(Type.Number()) }),
  caller: open({ network: text(), may: texts() }, { description: 'What calls from this machine may do' }),
  version: text(),
})

export const HostsShape = open({
  hosts: Type.Array(open(HOST_ROW)),
  total: Type.Number(),
  matched: Type.Number(),
  nextCursor: orNull('string'),
  counts: Type.Object({}, { additionalProperties: Type.Number() }),
})

export const HealthShape = open({
  ...HOST_ROW,
  lastCheck: Type.Union([
    open({ at: text(), ok: Type.Boolean(), httpStatus: orNull('number'), reason: orNull('string') }),
    Type.Null(),
  ]),
  configPath: orNull('string'),
})

export const WaitedShape = open({
  reached: Type.Boolean({ description: 'Whether the host got the badge in time' }),
  host: text(),
  badge: text('The badge now'),
})

export const DiagnosisShape = open({
  host: text(),
  badge: text(),
  chain: Type.Array(open({ link: text(), ok: orNull('boolean'), detail: text() })),
  cause: open({
    code: text(),
    level: text('good, warning (visitors notice nothing yet) or bad'),
    sentence: text(),
    advice: text(),
    acts: texts(),
  }),
})

const MAKER = {
  createdBy: maybe('The address from which the plan was made'),
  network: maybe('public: anybody on the Internet may have made the plan. Ask a person before you apply it'),
}

export const PlanShape = open({
  ...MAKER,
  planId: text('The argument of apply_plan'),
  state: text(),
  host: text(),
  url: text(),
  checks: Type.Array(Check),
  changes: Type.Array(Change, { description: 'The changes that an apply makes, in order' }),
  steps: Type.Array(Type.String(), { description: 'The steps of the apply, in the order in which they will run' }),
  expiresAt: text('The plan can be applied until then'),
})

export const PlansShape = open({
  plans: Type.Array(
    open({
      ...MAKER,
      planId: text(),
      state: text(),
      host: text(),
      url: text(),
      createdAt: text(),
      expiresAt: text(),
    }),
  ),
  nextCursor: orNull('string'),
})

export const ExtendedShape = open({
  planId: text(),
  expiresAt: text('When the exposure is removed automatically'),
})

export const EventsShape = open({
  events: Type.Array(open({ type: text(), timestamp: text(), data: open({ host: text(), facts: open({}) }) }), {
    description: 'Oldest first',
  }),
})

export const AppliedShape = open({
  planId: text(),
  state: Type.Literal('applied'),
  host: text(),
  url: text(),
  steps: Type.Array(Step),
  warnings: texts(),
  appliedAt: text(),
})

export const DriftShape = open({
  planId: text(),
  differences: Type.Array(
    open({
      part: text('entry, record, mark or certificate'),
      field: text(),
      path: maybe('The file on the disk of the edge that has this part'),
      expected: text(),
      found: text(),
      overwrite: Type.Boolean({
        description: 'True: it was changed outside Drawbridge, and a repair would overwrite it',
      }),
      server: maybe('The server of the Secondary, for a file that differs there'),
    }),
  ),
})

export const RepairedShape = open({
  planId: text(),
  state: Type.Literal('applied'),
  host: text(),
  url: text(),
  steps: Type.Array(Step),
  warnings: texts(),
  repairedAt: text(),
})

export const ReleasedShape = open({
  planId: text(),
  state: Type.Literal('released'),
  host: text(),
  steps: Type.Array(Step),
  file: orNull('string', 'The file on the Primary that serves the host from now on'),
  warnings: texts(),
  releasedAt: text(),
})

export const RenewedShape = open({
  planId: text(),
  host: text(),
  certificate: open({
    names: texts(),
    notAfter: text(),
    source: text('issued: by the certificate authority, now. reused: it was already installed'),
  }),
  warnings: texts(),
  renewedAt: text(),
})

export const RemovedShape = open({
  planId: text(),
  state: Type.Literal('removed'),
  host: text(),
  steps: Type.Array(Step),
  removedAt: text(),
})
