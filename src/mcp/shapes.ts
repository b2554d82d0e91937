import { z } from 'zod'

/** What tools answer with. Members that the API adds later pass through. */
const Step = z.looseObject({ name: z.string(), status: z.string(), ms: z.number() })
const Check = z.looseObject({ name: z.string(), status: z.string(), detail: z.string() })
const Change = z.looseObject({ kind: z.string(), action: z.string() })

const HOST_ROW = {
  host: z.string(),
  badge: z.string().describe('RUNNING, HTTP nnn, DOWN, NO DNS, CERT, DRIFT or PENDING'),
  server: z.string().nullable(),
  managed: z.boolean().describe('False: it was not put on the air by Drawbridge, and cannot be removed by it'),
  tls: z.boolean(),
  since: z.string().nullable().describe('Since when it has this badge'),
  latencyMs: z.number().nullable(),
  uptime24h: z.number().nullable(),
  expiresAt: z.string().nullable().describe('When it removes itself'),
  planId: z.string().optional().describe('What remove_exposure takes; told to callers inside'),
}

export const PolicyShape = {
  flow: z.string(),
  servers: z.looseObject({ targets: z.array(z.string()), primary: z.string(), secondary: z.string().nullable() }),
  zones: z.array(z.string()),
  ports: z.looseObject({ allowed: z.array(z.array(z.number())), denied: z.array(z.number()) }),
  caller: z.looseObject({ network: z.string(), may: z.array(z.string()) }).describe('What calls from here may do'),
  version: z.string(),
}

export const HostsShape = {
  hosts: z.array(z.looseObject(HOST_ROW)),
  total: z.number(),
  matched: z.number(),
  nextCursor: z.string().nullable(),
  counts: z.record(z.string(), z.number()),
}

export const HealthShape = {
  ...HOST_ROW,
  lastCheck: z
    .looseObject({ at: z.string(), ok: z.boolean(), httpStatus: z.number().nullable(), reason: z.string().nullable() })
    .nullable(),
  configPath: z.string().nullable(),
}

export const DiagnosisShape = {
  host: z.string(),
  badge: z.string(),
  chain: z.array(z.looseObject({ link: z.string(), ok: z.boolean().nullable(), detail: z.string() })),
  cause: z.looseObject({ code: z.string(), sentence: z.string(), advice: z.string() }),
}

export const PlanShape = {
  planId: z.string().describe('What apply_plan takes'),
  state: z.string(),
  host: z.string(),
  url: z.string(),
  checks: z.array(Check),
  changes: z.array(Change).describe('What an apply would do, in order'),
  expiresAt: z.string().describe('Until when it may be applied'),
}

export const AppliedShape = {
  planId: z.string(),
  state: z.literal('applied'),
  host: z.string(),
  url: z.string(),
  steps: z.array(Step),
  warnings: z.array(z.string()),
  appliedAt: z.string(),
}

export const RemovedShape = {
  planId: z.string(),
  state: z.literal('removed'),
  host: z.string(),
  steps: z.array(Step),
  removedAt: z.string(),
}

/** What tools take. */
export const HostArgument = { host: z.string().describe('A fully qualified name, such as hello.example.test') }
export const PlanArgument = { planId: z.string().describe('plan_…') }

export const HostsArguments = {
  search: z.string().optional().describe('Part of a host'),
  badge: z.string().optional().describe('One badge, or several with a comma between'),
  server: z.string().optional(),
  limit: z.number().int().min(1).max(1000).default(100),
  cursor: z.string().optional().describe('nextCursor of the page before'),
}

export const ExposureArguments = {
  zone: z.string().describe('One of zones of get_policy'),
  subdomain: z.string().describe('One letter-digit-hyphen label, placed under the zone'),
  server: z.string().describe('One of servers.targets of get_policy'),
  port: z.number().int().describe("The backend's port on that server"),
  health: z.string().describe('The path that must answer with HTTP 2xx, beginning with /'),
  tls: z.boolean().describe('Whether HTTPS is to be set up'),
  expiresIn: z.number().int().optional().describe('Seconds (300 to 2592000) after which it removes itself'),
}
