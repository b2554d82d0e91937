import { type TSchema, Type } from 'typebox'
import { ERRORS, type ErrorCode, Problem } from '../../model/errors.ts'
import { problemBody, wrongType } from '../guard/problem.ts'
import { PROBLEMS } from './examples.ts'

/** What the schemas of all bodies are made of. */
export const closed = { additionalProperties: false }
export const open = { additionalProperties: true }

export const oneOf = <const T extends readonly string[]>(values: T, options = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options })

export const Time = Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] })

/** No answer has more rows. */
const MOST_ROWS = 500

/** How many rows of a list are asked for. More than an answer has is no fault: the cursor leads on. */
export const rowsAsked = (limit: string | undefined, usual: number): number =>
  Math.min(MOST_ROWS, Number(limit ?? usual))

/** The answer of a route that streams: each event's data is of this schema. */
export const eventStream = (description: string, schema: TSchema): TSchema =>
  ({ description, content: { 'text/event-stream': { schema } } }) as unknown as TSchema

export const CheckBody = Type.Object(
  {
    name: oneOf(['health', 'dns', 'certificate', 'proxy']),
    status: oneOf(['passed', 'warning', 'not_required', 'failed']),
    detail: Type.String(),
  },
  { ...open, title: 'Check', description: 'One preflight question, answered. Further members are evidence.' },
)

/** Where a route's schema says which codes a problem of it may have. */
export const CODES = 'x-codes'

const FieldErrorBody = Type.Object({ field: Type.String(), message: Type.String() }, closed)

const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    code: Type.String({ description: 'Stable: the page errors.md explains each.' }),
    detail: Type.String(),
    errors: Type.Optional(Type.Array(FieldErrorBody)),
    checks: Type.Optional(Type.Array(CheckBody)),
    retryable: Type.Boolean(),
    retryAfter: Type.Optional(Type.Integer({ description: 'Seconds.' })),
    nextAction: Type.String(),
    requestId: Type.String(),
  },
  { ...open, title: 'Problem', description: 'RFC 9457 problem.' },
)

/** A problem with one of these codes, and an example of each, for the document. */
export const problemMedia = (codes: readonly ErrorCode[]): { schema: TSchema; examples: Record<string, unknown> } => ({
  schema: Type.Unsafe({ type: 'object', allOf: [ProblemSchema], properties: { code: oneOf(codes) } }),
  examples: Object.fromEntries(codes.map((code) => [code, exampleOf(code)])),
})

/** The answer of every route to a body of another type: `invalid_request` under a status of its own. */
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
