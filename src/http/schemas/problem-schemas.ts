import { type TSchema, Type } from 'typebox'
import { ERRORS, type ErrorCode, Problem } from '../../model/errors.ts'
import { RUN_ACTIONS } from '../../model/run.ts'
import { problemBody, wrongType } from '../guard/problem.ts'
import { PROBLEMS } from './examples.ts'
import { CheckBody, closed, oneOf, open, Time } from './schema-parts.ts'

/** The member of a route's schema that lists the error codes of a response. */
export const CODES = 'x-codes'

const FieldErrorBody = Type.Object({ field: Type.String(), message: Type.String() }, closed)

const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    code: Type.String({ description: 'Stable. docs/errors.md explains each code.' }),
    detail: Type.String(),
    errors: Type.Optional(Type.Array(FieldErrorBody)),
    checks: Type.Optional(Type.Array(CheckBody)),
    retryable: Type.Boolean(),
    retryAfter: Type.Optional(Type.Integer({ description: 'Seconds.' })),
    holder: Type.Optional(
      Type.Object(
        {
          planId: Type.String(),
          action: Type.Optional(oneOf(RUN_ACTIONS)),
          startedAt: Type.Optional(Time),
        },
        {
          ...open,
          description:
            'The plan that holds the host, with `plan_busy` and with a `dns_name_taken` by an exposure or run. `action` and `startedAt` are those of its run. Only internal callers see it.',
        },
      ),
    ),
    nextAction: Type.String(),
    requestId: Type.String(),
  },
  { ...open, title: 'Problem', description: 'RFC 9457 problem.' },
)

/** What the checks of a plan find, and find again in an apply. */
export const FOUND_BY_CHECKS = [
  'server_not_allowed',
  'zone_not_managed',
  'port_not_allowed',
  'backend_unhealthy',
  'dns_name_taken',
  'dns_unavailable',
  'certificate_unavailable',
  'proxy_name_taken',
  'proxy_config_broken',
] as const

/** The schema of a problem with one of these codes, and an example of each code. */
export const problemMedia = (codes: readonly ErrorCode[]): { schema: TSchema; examples: Record<string, unknown> } => ({
  schema: Type.Unsafe({ type: 'object', allOf: [ProblemSchema], properties: { code: oneOf(codes) } }),
  examples: Object.fromEntries(codes.map((code) => [code, exampleOf(code)])),
})

/** The answer to a body that is not JSON: `invalid_request` with status 415. */
export const wrongTypeResponse = () => ({
  description: '`invalid_request`: The body is not sent as application/json.',
  content: {
    'application/problem+json': {
      ...problemMedia(['invalid_request']),
      examples: { invalid_request: exampleFor(wrongType()) },
    },
  },
})

function exampleOf(code: ErrorCode): unknown {
  const { detail = `${ERRORS[code].title}.`, ...members } = PROBLEMS[code] ?? {}
  return exampleFor(new Problem(code, detail, members))
}

const exampleFor = (problem: Problem): unknown => ({
  summary: ERRORS[problem.code].title,
  value: problemBody(problem, 'req_0123456789abcdef0123'),
})

/** The error codes that every route can answer with. */
const COMMON: readonly ErrorCode[] = [
  'host_not_allowed',
  'origin_not_allowed',
  'rate_limited',
  'unavailable',
  'internal_error',
]

/** The responses for the error codes of a route, by status. */
export function problems(...codes: ErrorCode[]): Record<string, TSchema> {
  const byStatus = Map.groupBy([...codes, ...COMMON], (code) => ERRORS[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      String(status),
      {
        description: ofStatus.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join(' '),
        // The error handler writes all problems, so routes do not need the schema. The document adds it.
        content: { 'application/problem+json': { schema: { type: 'object', [CODES]: ofStatus } } },
      } as unknown as TSchema,
    ]),
  )
}
