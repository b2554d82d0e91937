import { z } from 'zod'
import type { Policy } from '../client/bodies.ts'
import { BADGE_GRAMMAR } from '../model/badge.ts'
import type { FieldError } from '../model/errors.ts'
import { LONGEST_NOTE, LONGEST_OWNER } from '../model/exposure.ts'
import { GRAMMAR_IN_WORDS, HEALTH_GRAMMAR, LONGEST_HEALTH, SERVER_GRAMMAR } from '../plan/desired.ts'
import { OptionsArgument } from './option-arguments.ts'

/** The arguments of the tools. Every object is strict: an unknown argument is an error, never ignored. */
const VERBOSE = {
  verbose: z.boolean().default(false).describe('Whether to return also what most tasks do not need'),
}

export const PolicyArguments = z.strictObject(VERBOSE)

const HOST = { host: z.string().min(1).max(1024).describe('A fully qualified name, such as hello.example.test') }

export const HostArgument = z.strictObject({ ...HOST, ...VERBOSE })

export const WaitArguments = z.strictObject({
  ...HOST,
  badge: z
    .string()
    .max(20)
    .regex(new RegExp(`^${BADGE_GRAMMAR}$`))
    .default('RUNNING')
    .describe('The badge to wait for: RUNNING, HTTP nnn, DOWN, NO DNS, CERT, DRIFT or PENDING'),
  timeoutSeconds: z.number().int().min(1).max(300).default(50).describe('How long to wait, in seconds'),
})

export const EventsArguments = z.strictObject({
  host: z.string().min(1).max(253).optional().describe('Only events of this host'),
  type: z
    .string()
    .min(1)
    .max(400)
    .optional()
    .describe('Only these types, separated by commas, such as exposure.applied'),
  limit: z.number().int().min(1).max(100).default(20),
})

export const PlansArguments = z.strictObject({
  limit: z.number().int().min(1).max(200).default(20),
  cursor: z
    .string()
    .regex(/^[0-9]{1,15}\.plan_[0-9a-z]{26}$/)
    .optional()
    .describe('nextCursor of the previous page'),
  ...VERBOSE,
})

const CONFIRM_OWNER = {
  confirmOwner: z
    .string()
    .min(1)
    .max(LONGEST_OWNER)
    .optional()
    .describe('The owner of the host, if it belongs to somebody else. Send it only after a person has agreed'),
}

/** Without a pattern: the API answers `plan_not_found` to a malformed id. */
export const ApplyArguments = z.strictObject({
  planId: z.string().min(1).max(128).describe('plan_…'),
  ...CONFIRM_OWNER,
})

const ONE_OF_BOTH = { path: ['planId'], message: 'must be sent, or host, but not both' }

const EXPOSED = {
  planId: z.string().min(1).max(128).optional().describe('The applied plan, plan_…. Or send host'),
  host: z.string().min(1).max(1024).optional().describe('The exposed host. Or send planId'),
}

export interface Exposed {
  readonly planId?: string | undefined
  readonly host?: string | undefined
}

const hasOne = ({ planId, host }: Exposed): boolean => (planId === undefined) !== (host === undefined)

/** An exposure, by its applied plan or by its host. */
export const ExposedArguments = z.strictObject(EXPOSED).refine(hasOne, ONE_OF_BOTH)

/** The same for a tool that changes it. */
export const ChangedArguments = z.strictObject({ ...EXPOSED, ...CONFIRM_OWNER }).refine(hasOne, ONE_OF_BOTH)

export const GetPlanArguments = z.strictObject({ ...EXPOSED, ...VERBOSE }).refine(hasOne, ONE_OF_BOTH)

export const ExtendArguments = z
  .strictObject({
    ...EXPOSED,
    ...CONFIRM_OWNER,
    expiresIn: z
      .number()
      .int()
      .min(300)
      .max(2_592_000)
      .describe('Seconds from now until the exposure is removed. It must end later than it ends now'),
  })
  .refine(hasOne, ONE_OF_BOTH)

export const RepairArguments = z
  .strictObject({
    ...EXPOSED,
    ...CONFIRM_OWNER,
    overwrite: z
      .boolean()
      .default(false)
      .describe('Whether to overwrite what was changed outside Drawbridge. Ask a person before you send true'),
  })
  .refine(hasOne, ONE_OF_BOTH)

export const HostsArguments = z.strictObject({
  search: z.string().max(253).optional().describe('Part of the name of a host or server'),
  badge: z
    .string()
    .max(200)
    .regex(new RegExp(`^${BADGE_GRAMMAR}(?:, ?${BADGE_GRAMMAR})*$`))
    .optional()
    .describe('One badge or several, separated by commas: RUNNING, HTTP nnn, DOWN, NO DNS, CERT, DRIFT, PENDING'),
  server: z.string().max(64).optional().describe('The id of a server'),
  limit: z.number().int().min(1).max(500).default(100),
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,1024}$/)
    .optional()
    .describe('nextCursor of the previous page'),
  ...VERBOSE,
})

const Zone = z.string().min(1).max(254)
const ServerId = z.string().regex(new RegExp(SERVER_GRAMMAR))

export const ExposureArguments = z.strictObject({
  zone: Zone.describe('One of zones of get_policy'),
  subdomain: z
    .string()
    .regex(/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/)
    .describe('One letter-digit-hyphen label, placed under the zone'),
  server: ServerId.describe('One of servers.targets of get_policy'),
  port: z.number().int().min(1).max(65_535).describe("The backend's port on that server"),
  health: z
    .string()
    .max(LONGEST_HEALTH)
    .regex(new RegExp(HEALTH_GRAMMAR))
    .describe('The path that must answer with HTTP 2xx, beginning with /'),
  tls: z.boolean().describe('Whether to set up HTTPS'),
  expiresIn: z
    .number()
    .int()
    .min(300)
    .max(2_592_000)
    .optional()
    .describe('Seconds until the exposure is removed automatically. Without it, the exposure does not expire'),
  replaces: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('The planId of the applied exposure of the same host, to change that exposure without a gap'),
  // The service checks the grammar of both: its patterns use Unicode classes, which not every client of a schema knows.
  owner: z
    .string()
    .min(1)
    .max(LONGEST_OWNER)
    .optional()
    .describe(
      'Who is responsible: a person, a team or an e-mail address. With replaces, the former owner stays unless sent',
    ),
  note: z
    .string()
    .min(1)
    .max(LONGEST_NOTE)
    .optional()
    .describe('One line about what the exposure is for. With replaces, the former note stays unless sent'),
  options: OptionsArgument.optional().describe(
    'How the edge serves the host. With replaces, these take the place of all former options',
  ),
})

/**
 * `ExposureArguments` with the zones and servers of this installation, for the list of tools only. Calls are checked against
 * `ExposureArguments`, so that the service refuses a forbidden zone or server with its own error code.
 */
export const exposureArgumentsUnder = ({ zones, servers }: Policy) =>
  ExposureArguments.extend({
    ...(zones.length > 0 && { zone: z.enum(zones).describe('The zone in which to create the name') }),
    ...(servers.targets.length > 0 && {
      server: z.enum(servers.targets).describe('The server on which the backend runs'),
    }),
  })

/** One entry per invalid argument, with the same messages as the API. */
export function argumentErrors({ issues }: z.ZodError, given: Readonly<Record<string, unknown>>): FieldError[] {
  const errors = issues.flatMap((issue): FieldError[] => {
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({ field: key.slice(0, LONGEST_FIELD), message: 'is not a known field' }))
    const field = String(issue.path[0] ?? 'arguments')
    return [{ field, message: Object.hasOwn(given, field) ? messageOf(issue) : 'is missing' }]
  })
  return [...new Map(errors.toReversed().map((error) => [error.field, error])).values()].reverse().slice(0, MOST_ERRORS)
}

const LONGEST_FIELD = 64
const MOST_ERRORS = 20

function messageOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      // Every numeric argument is an integer.
      return `must be ${issue.expected === 'number' || issue.expected === 'int' ? 'integer' : issue.expected}`
    case 'too_small':
      return issue.origin === 'string' ? 'must not be empty' : `must be >= ${issue.minimum}`
    case 'too_big':
      return issue.origin === 'string'
        ? `must not have more than ${issue.maximum} characters`
        : `must be <= ${issue.maximum}`
    case 'invalid_format':
      return inWords(issue.pattern ?? '')
    case 'custom':
      return issue.message
    default:
      return 'is not valid'
  }
}

const inWords = (pattern: string): string =>
  GRAMMAR_IN_WORDS[pattern.replace(/^\/(.*)\/[a-z]*$/, '$1').replaceAll('\\/', '/')] ??
  'has the wrong form; the inputSchema describes it'
