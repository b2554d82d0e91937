import type { FastifyError } from 'fastify'
import type { Caller } from '../../authorize/caller.ts'
import { ERRORS, type FieldError, Problem } from '../../model/errors.ts'
import { EMPTY_LIST, MAX_BODY_GRAMMAR, OPTION_ID_GRAMMAR } from '../../model/options/grammar.ts'
import { badFields, GRAMMAR_IN_WORDS } from '../../plan/desired.ts'
import { StoreUnavailable } from '../../store/ports/store.ts'

/** The body of every refusal (RFC 9457). */
export interface ProblemBody {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly retryable: boolean
  readonly nextAction: string
  readonly requestId: string
  readonly [member: string]: unknown
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'
const MOST_FIELD_ERRORS = 20

export function problemBody(problem: Problem, requestId: string): ProblemBody {
  const { status, title, retryable, nextAction } = ERRORS[problem.code]
  return {
    type: `urn:drawbridge:problem:${problem.code}`,
    title,
    status: typeof problem.members.status === 'number' ? problem.members.status : status,
    code: problem.code,
    detail: problem.message,
    retryable,
    nextAction,
    ...problem.members,
    requestId,
  }
}

/** The problem of a body whose content type is not JSON. */
export const wrongType = (): Problem =>
  new Problem('invalid_request', 'The body must be sent as application/json.', {
    status: 415,
    errors: [{ field: 'content-type', message: 'must be application/json, optionally with charset=utf-8' }],
  })

/** Converts any thrown value to a problem. Errors that are not listed here are internal errors. */
export function toProblem(error: unknown, { network }: Pick<Caller, 'network'>): Problem {
  if (error instanceof Problem) return error
  if (error instanceof StoreUnavailable) {
    return new Problem('unavailable', network === 'internal' ? error.message : error.outside, { retryAfter: 5 })
  }
  const { code, validation, statusCode } = error as Partial<FastifyError>
  if (validation) {
    const errors = fieldErrors(validation)
    return new Problem('invalid_request', badFields(errors), { errors })
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new Problem('payload_too_large', 'The request body is larger than 16 KiB.')
  }
  if (code === 'FST_UNDER_PRESSURE' || statusCode === 503) {
    return new Problem('unavailable', 'The service is overloaded or shutting down.', { retryAfter: 5 })
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new Problem('invalid_request', 'The request could not be read.')
  }
  return new Problem('internal_error', 'The request failed because of an internal error.')
}

type Validation = NonNullable<FastifyError['validation']>

/** One entry per bad field, even if the field breaks several rules. */
function fieldErrors(validation: Validation): FieldError[] {
  const errors = new Map<string, FieldError>()
  for (const fault of validation) {
    const inside = fault.params.missingProperty ?? fault.params.additionalProperty
    const path = [...fault.instancePath.split('/').slice(1), ...(inside === undefined ? [] : [String(inside)])]
    const field = path.join('.').slice(0, 64) || 'body'
    if (!errors.has(field) && errors.size < MOST_FIELD_ERRORS) errors.set(field, { field, message: messageOf(fault) })
  }
  return [...errors.values()]
}

const FORMATS: Record<string, string> = {
  'dns-zone': 'must be a DNS name of letter-digit-hyphen labels',
  network: 'must be a network such as 10.0.0.0/8 or 2001:db8::/32',
  'dns-label': 'must be one letter-digit-hyphen label of at most 63 characters',
  owner: 'must be 1 to 64 letters, digits, spaces or . _ @ + -, and begin and end with a letter or digit',
  note: "must be one line of 1 to 200 letters, digits, spaces or . , : ; ! ? ( ) # / % & + = @ _ ' -",
}

/** The patterns of queries and options that have no name of their own, in words. */
const PATTERNS: Readonly<Record<string, string>> = {
  '^(?:[1-9][0-9]?|1[0-9][0-9]|200)$': 'must be a whole number from 1 to 200',
  '^(?:[1-9][0-9]{0,2}|1000)$': 'must be a whole number from 1 to 1000',
  '^(?:[1-9][0-9]{0,3}|10000)$': 'must be a whole number from 1 to 10000',
  '^[0-9]{1,15}$': 'must be a whole number, the position of an event or a line',
  '^[0-9]{1,15}\\.plan_[0-9a-z]{26}$': 'must be nextCursor of the previous page',
  '^[A-Za-z0-9_-]{1,1024}$': 'must be nextCursor of the previous page',
  '^[a-z0-9._-]+(?:,[a-z0-9._-]+)*$': 'must be one name, or several separated by commas without spaces',
  [MAX_BODY_GRAMMAR]: 'must be 0 or a size such as 50m: a whole number with k, m or g',
  [OPTION_ID_GRAMMAR]: 'must be an id of the configuration: 1 to 32 lower-case letters, digits or hyphens',
}

/** Undefined for a pattern that has no words yet. */
export const patternInWords = (pattern: string): string | undefined => GRAMMAR_IN_WORDS[pattern] ?? PATTERNS[pattern]

function messageOf({ keyword, params, message }: Validation[number]): string {
  switch (keyword) {
    case 'required':
      return 'is missing'
    case 'additionalProperties':
      return 'is not a known field; remove it'
    case 'format':
      return FORMATS[String(params.format)] ?? 'has the wrong form'
    case 'pattern':
      return patternInWords(String(params.pattern)) ?? 'has the wrong form; the API document describes it'
    case 'minItems':
      return EMPTY_LIST
    case 'anyOf':
    case 'enum':
    case 'const':
      return 'is not one of the allowed values'
    default:
      return message ?? 'is not valid'
  }
}
