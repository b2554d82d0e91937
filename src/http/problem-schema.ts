import { type TSchema, Type } from 'typebox'
import { ERRORS, type ErrorCode, Problem } from '../model/errors.ts'
import { PROBLEMS } from './examples.ts'
import { problemBody, wrongType } from './problem.ts'
import { CheckBody, closed, oneOf, open } from './schema-parts.ts'

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
