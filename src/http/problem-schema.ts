import { type TSchema, Type } from 'typebox'
import { ERRORS, type ErrorCode, Problem } from '../model/errors.ts'
import { PROBLEMS } from './examples.ts'
import { problemBody } from './problem.ts'
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

function exampleOf(code: ErrorCode): unknown {
  const { title } = ERRORS[code]
  const { detail = `${title}.`, ...members } = PROBLEMS[code] ?? {}
  return { summary: title, value: problemBody(new Problem(code, detail, members), 'req_0123456789abcdef0123') }
}
