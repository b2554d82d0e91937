import { z } from 'zod'

/**
 * The answers of the tools. Every object is loose: clients validate answers against these schemas, and answers of the API have
 * members that are not listed here.
 */
const Step = z.looseObject({ name: z.string(), status: z.string(), ms: z.number() })
const Check = z.looseObject({ name: z.string(), status: z.string(), detail: z.string() })
const Change = z.looseObject({ kind: z.string(), action: z.string() })

const HOST_ROW = {
  host: z.string(),
  badge: z.string().describe('RUNNING, HTTP nnn, DOWN, NO DNS, CERT, DRIFT or PENDING'),
  server: z.string().nullable(),
  managed: z.boolean().describe('False: Drawbridge did not expose the host and cannot remove it'),
  tls: z.boolean(),
  since: z.string().nullable().describe('When the host got this badge'),
  latencyMs: z.number().nullable(),
  uptime24h: z.number().nullable(),
  expiresAt: z.string().nullable().describe('When the exposure is removed automatically'),
  planId: z
    .string()
    .optional()
    .describe('The argument of remove_exposure and repair_exposure. Present for callers in the internal network'),
  blocked: z
    .boolean()
    .optional()
    .describe(
      'True: the last run could not be undone, and no tool can change the host. diagnose_host tells what a person has to do',
    ),
  maintenance: z.boolean().optional().describe('True: visitors get the maintenance page'),
  owner: z.string().optional().describe('Who is responsible, as people have written it'),
  note: z.string().optional().describe('What the exposure is for, as people have written it'),
}

export const PolicyShape = z.looseObject({
  flow: z.string(),
  servers: z.looseObject({ targets: z.array(z.string()), primary: z.string(), secondary: z.string().nullable() }),
  zones: z.array(z.string()),
  ports: z.looseObject({ allowed: z.array(z.array(z.number())), denied: z.array(z.number()) }),
  caller: z
    .looseObject({ network: z.string(), may: z.array(z.string()) })
    .describe('What calls from this machine may do'),
  version: z.string(),
})

export const HostsShape = z.looseObject({
  hosts: z.array(z.looseObject(HOST_ROW)),
  total: z.number(),
  matched: z.number(),
  nextCursor: z.string().nullable(),
  counts: z.record(z.string(), z.number()),
})

export const HealthShape = z.looseObject({
  ...HOST_ROW,
  lastCheck: z
    .looseObject({ at: z.string(), ok: z.boolean(), httpStatus: z.number().nullable(), reason: z.string().nullable() })
    .nullable(),
  configPath: z.string().nullable(),
})

export const WaitedShape = z.looseObject({
  reached: z.boolean().describe('Whether the host got the badge in time'),
  host: z.string(),
  badge: z.string().describe('The badge now'),
})

export const DiagnosisShape = z.looseObject({
  host: z.string(),
  badge: z.string(),
  chain: z.array(z.looseObject({ link: z.string(), ok: z.boolean().nullable(), detail: z.string() })),
  cause: z.looseObject({
    code: z.string(),
    level: z.string().describe('good, warning (visitors notice nothing yet) or bad'),
    sentence: z.string(),
    advice: z.string(),
    acts: z.array(z.string()),
  }),
})

const MAKER = {
  createdBy: z.string().optional().describe('The address from which the plan was made'),
  network: z
    .string()
    .optional()
    .describe('public: anybody on the Internet may have made the plan. Ask a person before you apply it'),
}

export const PlanShape = z.looseObject({
  ...MAKER,
  planId: z.string().describe('The argument of apply_plan'),
  state: z.string(),
  host: z.string(),
  url: z.string(),
  checks: z.array(Check),
  changes: z.array(Change).describe('The changes that an apply makes, in order'),
  steps: z.array(z.string()).describe('The steps of the apply, in the order in which they will run'),
  expiresAt: z.string().describe('The plan can be applied until then'),
})

export const PlansShape = z.looseObject({
  plans: z.array(
    z.looseObject({
      ...MAKER,
      planId: z.string(),
      state: z.string(),
      host: z.string(),
      url: z.string(),
      createdAt: z.string(),
      expiresAt: z.string(),
    }),
  ),
  nextCursor: z.string().nullable(),
})

export const ExtendedShape = z.looseObject({
  planId: z.string(),
  expiresAt: z.string().describe('When the exposure is removed automatically'),
})

export const EventsShape = z.looseObject({
  events: z
    .array(
      z.looseObject({
        type: z.string(),
        timestamp: z.string(),
        data: z.looseObject({ host: z.string(), facts: z.looseObject({}) }),
      }),
    )
    .describe('Oldest first'),
})

export const AppliedShape = z.looseObject({
  planId: z.string(),
  state: z.literal('applied'),
  host: z.string(),
  url: z.string(),
  steps: z.array(Step),
  warnings: z.array(z.string()),
  appliedAt: z.string(),
})

export const DriftShape = z.looseObject({
  planId: z.string(),
  differences: z.array(
    z.looseObject({
      part: z.string().describe('entry, record, mark or certificate'),
      field: z.string(),
      path: z.string().optional().describe('The file on the disk of the edge that has this part'),
      expected: z.string(),
      found: z.string(),
      overwrite: z.boolean().describe('True: it was changed outside Drawbridge, and a repair would overwrite it'),
      server: z.string().optional().describe('The server of the Secondary, for a file that differs there'),
    }),
  ),
})

export const RepairedShape = z.looseObject({
  planId: z.string(),
  state: z.literal('applied'),
  host: z.string(),
  url: z.string(),
  steps: z.array(Step),
  warnings: z.array(z.string()),
  repairedAt: z.string(),
})

export const ReleasedShape = z.looseObject({
  planId: z.string(),
  state: z.literal('released'),
  host: z.string(),
  steps: z.array(Step),
  file: z.string().nullable().describe('The file on the Primary that serves the host from now on'),
  warnings: z.array(z.string()),
  releasedAt: z.string(),
})

export const RenewedShape = z.looseObject({
  planId: z.string(),
  host: z.string(),
  certificate: z.looseObject({
    names: z.array(z.string()),
    notAfter: z.string(),
    source: z.string().describe('issued: by the certificate authority, now. reused: it was already installed'),
  }),
  warnings: z.array(z.string()),
  renewedAt: z.string(),
})

export const RemovedShape = z.looseObject({
  planId: z.string(),
  state: z.literal('removed'),
  host: z.string(),
  steps: z.array(Step),
  removedAt: z.string(),
})
