import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { Default, Errors } from 'typebox/value'
import type { Policy } from '../client/bodies.ts'
import { BADGE_GRAMMAR } from '../model/badge.ts'
import type { FieldError } from '../model/errors.ts'
import { LONGEST_NOTE, LONGEST_OWNER } from '../model/exposure.ts'
import { EMPTY_LIST } from '../model/options/grammar.ts'
import { GRAMMAR_IN_WORDS, HEALTH_GRAMMAR, LONGEST_HEALTH, SERVER_GRAMMAR } from '../plan/desired.ts'
import { closed, OptionsArgument, oneOf, Port } from './option-arguments.ts'

/**
 * The arguments of the tools. Every object is closed: an unknown argument is an error, never ignored. An argument with a default may be
 * left out.
 */
const VERBOSE = {
  verbose: Type.Boolean({ default: false }),
}

const text = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description })
const limit = (maximum: number, usual: number) => Type.Integer({ minimum: 1, maximum, default: usual })

export const PolicyArguments = closed(VERBOSE)

const HOST = { host: text(1024, 'A fully qualified name, such as hello.example.test') }

export const HostArgument = closed({ ...HOST, ...VERBOSE })

export const WaitArguments = closed({
  ...HOST,
  badge: Type.String({
    maxLength: 20,
    pattern: `^${BADGE_GRAMMAR}$`,
    default: 'RUNNING',
    description: 'RUNNING, HTTP nnn, DOWN, NO DNS, CERT, DRIFT or PENDING',
  }),
  timeoutSeconds: Type.Integer({
    minimum: 1,
    maximum: 300,
    default: 50,
  }),
})

export const EventsArguments = closed({
  host: Type.Optional(text(253, 'Only events of this host')),
  type: Type.Optional(text(400, 'Only these types, separated by commas, such as exposure.applied')),
  limit: limit(100, 20),
})

const cursor = (pattern: string) =>
  Type.Optional(Type.String({ pattern, description: 'nextCursor of the previous page' }))

export const PlansArguments = closed({
  limit: limit(200, 20),
  cursor: cursor('^[0-9]{1,15}\\.plan_[0-9a-z]{26}$'),
  ...VERBOSE,
})

const CONFIRM_OWNER = {
  confirmOwner: Type.Optional(text(LONGEST_OWNER, 'Its owner, if somebody else. Only after a person has agreed')),
}

/** Without a pattern: the API answers `plan_not_found` to a malformed id. */
export const ApplyArguments = closed({ planId: text(128, 'plan_…'), ...CONFIRM_OWNER })

const EXPOSED = {
  planId: Type.Optional(text(128, 'Its applied plan, plan_…')),
  host: Type.Optional(text(1024, 'The exposed host, in place of planId')),
}

export interface Exposed {
  readonly planId?: string | undefined
  readonly host?: string | undefined
}

/** An exposure, by its applied plan or by its host. */
export const ExposedArguments = closed(EXPOSED)

/** The same for a tool that changes it. */
export const ChangedArguments = closed({ ...EXPOSED, ...CONFIRM_OWNER })

export const GetPlanArguments = closed({ ...EXPOSED, ...VERBOSE })

const lifetime = (description: string) => Type.Integer({ minimum: 300, maximum: 2_592_000, description })

export const ExtendArguments = closed({
  ...EXPOSED,
  ...CONFIRM_OWNER,
  expiresIn: lifetime('Seconds from now until the exposure is removed. It must end later than it ends now'),
})

export const MuteArguments = closed({
  ...HOST,
  on: Type.Boolean({ default: true, description: 'false ends the mute' }),
  expiresIn: Type.Optional(
    Type.Integer({ minimum: 60, description: 'Seconds from now. Without it: until it is ended' }),
  ),
  note: Type.Optional(text(LONGEST_NOTE, 'Why, for others')),
})

export const MaintenanceArguments = closed({
  ...EXPOSED,
  ...CONFIRM_OWNER,
  on: Type.Boolean({ description: 'false passes visitors on to the backend again' }),
  retryAfter: Type.Optional(Type.Integer({ minimum: 1, description: 'What visitors are told, in seconds' })),
})

export const RepairArguments = closed({
  ...EXPOSED,
  ...CONFIRM_OWNER,
  overwrite: Type.Boolean({
    default: false,
    description: 'Whether to overwrite what was changed outside Drawbridge. Ask a person before you send true',
  }),
})

export const HostsArguments = closed({
  needsAttention: Type.Boolean({
    default: false,
    description: 'Only hosts that are not well, or blocked, and not muted',
  }),
  search: Type.Optional(Type.String({ maxLength: 253, description: 'Part of the name of a host or server' })),
  badge: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: `^${BADGE_GRAMMAR}(?:, ?${BADGE_GRAMMAR})*$`,
      description: 'One or several, separated by commas',
    }),
  ),
  server: Type.Optional(Type.String({ maxLength: 64, description: 'The id of a server' })),
  limit: limit(500, 100),
  cursor: cursor('^[A-Za-z0-9_-]{1,1024}$'),
  ...VERBOSE,
})

export const ExposureArguments = closed({
  host: Type.Optional(text(1024, 'The new host: one label below a zone. Or send zone and subdomain')),
  zone: Type.Optional(text(254, 'One of zones of get_policy')),
  subdomain: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$',
      description: 'The label of the host below the zone',
    }),
  ),
  server: Type.String({ pattern: SERVER_GRAMMAR, description: 'One of servers.targets of get_policy' }),
  port: Port({ description: "The backend's port on that server" }),
  health: Type.String({
    maxLength: LONGEST_HEALTH,
    pattern: HEALTH_GRAMMAR,
    description: 'The path that must answer with HTTP 2xx, beginning with /',
  }),
  tls: Type.Boolean({ description: 'Whether to set up HTTPS' }),
  expiresIn: Type.Optional(lifetime('Seconds until it removes itself. Without it: never')),
  replaces: Type.Optional(text(64, 'The planId of the applied exposure of the same host, to change it without a gap')),
  // The service checks the grammar of both: its patterns use Unicode classes, which not every client of a schema knows.
  owner: Type.Optional(text(LONGEST_OWNER, 'Who is responsible. With replaces, the former owner stays unless sent')),
  note: Type.Optional(text(LONGEST_NOTE, 'One line: what it is for. With replaces, the former note stays unless sent')),
  options: Type.Optional(OptionsArgument),
})

/**
 * `ExposureArguments` with the zones and servers of this installation, for the list of tools only. Calls are checked against
 * `ExposureArguments`, so that the service refuses a forbidden zone or server with its own error code.
 */
export const exposureArgumentsUnder = ({ zones, servers }: Policy): TObject =>
  closed({
    ...ExposureArguments.properties,
    ...(zones.length > 0 && { zone: Type.Optional(oneOf(zones, 'The zone of the host')) }),
    ...(servers.targets.length > 0 && {
      server: oneOf(servers.targets, 'The server on which the backend runs'),
    }),
  })

/** Either the arguments with their defaults, or one error per argument that is not valid. */
type Taken<T> =
  | { readonly args: T; readonly errors?: never }
  | { readonly args?: never; readonly errors: readonly FieldError[] }

export function taken<T extends TObject>(schema: T, given: Readonly<Record<string, unknown>>): Taken<Static<T>> {
  const args = Default(schema, structuredClone(given)) as Readonly<Record<string, unknown>>
  const declared = Object.entries<TSchema>(schema.properties).flatMap(([field, property]): FieldError[] => {
    if (args[field] !== undefined) return faultsOf(field, property, args[field])
    return Type.IsOptional(property) ? [] : [{ field, message: 'is missing' }]
  })
  const unknown = Object.keys(given)
    .filter((field) => !Object.hasOwn(schema.properties, field))
    .map((field) => ({ field: field.slice(0, LONGEST_FIELD), message: NOT_KNOWN }))
  const errors = [...declared, ...unknown].slice(0, MOST_ERRORS)
  return errors.length > 0 ? { errors } : { args: args as Static<T> }
}

/** A new host is named whole, or by its zone and its label. */
export function hostOrLabel({ host, zone, subdomain }: NewHost): FieldError | undefined {
  if (host !== undefined && (zone !== undefined || subdomain !== undefined))
    return { field: 'host', message: 'must be sent, or zone and subdomain, but not both' }
  if (host === undefined && zone === undefined && subdomain === undefined)
    return { field: 'host', message: 'is missing' }
  if (host === undefined && zone === undefined) return { field: 'zone', message: 'is missing' }
  if (host === undefined && subdomain === undefined) return { field: 'subdomain', message: 'is missing' }
  return undefined
}

export interface NewHost {
  readonly host?: string | undefined
  readonly zone?: string | undefined
  readonly subdomain?: string | undefined
}

/** An exposure is named by its plan or by its host. */
export function oneOfBoth({ planId, host }: Exposed): FieldError | undefined {
  if (planId === undefined && host === undefined) return { field: 'planId', message: 'is missing' }
  if (planId === undefined || host === undefined) return undefined
  return { field: 'planId', message: 'must be sent, or host, but not both' }
}

const NOT_KNOWN = 'is not a known field'
const LONGEST_FIELD = 64
const MOST_ERRORS = 20

type Fault = ReturnType<typeof Errors>[number]

/** One error for the argument, or for each member of it that is not valid, with the same messages as the API. */
function faultsOf(argument: string, schema: TSchema, value: unknown): FieldError[] {
  const errors = new Map<string, FieldError>()
  for (const fault of Errors(schema, value)) {
    // The fault of an unknown member, which its object tells as well.
    if (fault.keyword === 'boolean') continue
    const path = [argument, ...fault.instancePath.split('/').slice(1), ...memberIn(fault)]
    const field = path.join('.').slice(0, LONGEST_FIELD)
    if (!errors.has(field)) errors.set(field, { field, message: messageOf(fault) })
  }
  return [...errors.values()]
}

/** The member that is missing, or that there is not. */
function memberIn({ keyword, params }: Fault): readonly string[] {
  const named =
    keyword === 'required'
      ? params.requiredProperties
      : keyword === 'additionalProperties'
        ? params.additionalProperties
        : []
  return named.slice(0, 1).map(String)
}

function messageOf({ keyword, params, message }: Fault): string {
  switch (keyword) {
    case 'required':
      return 'is missing'
    case 'additionalProperties':
      return NOT_KNOWN
    case 'minLength':
      return 'must not be empty'
    case 'minItems':
      return EMPTY_LIST
    case 'pattern':
      return GRAMMAR_IN_WORDS[String(params.pattern)] ?? 'has the wrong form; the inputSchema describes it'
    case 'enum':
      return 'is not one of the allowed values'
    default:
      return message
  }
}
