import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { Refusal, Unreachable } from '../client/refusal.ts'
import type { FieldError } from '../model/errors.ts'
import { badFields } from '../plan/desire.ts'
import { nextActionFor } from './next-action.ts'

/** An answer: for programs as it is, for models that only read text the same as text. */
export const answer = (body: object): CallToolResult => ({
  structuredContent: { ...body },
  content: [{ type: 'text', text: JSON.stringify(body) }],
})

/** Every error of a tool: the code to go by, whether the same call may work later, and which tool to call next. */
interface ToolProblem {
  readonly code: string
  readonly detail: string
  readonly retryable: boolean
  readonly nextAction: string
  readonly [member: string]: unknown
}

const told = (problem: ToolProblem): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify(problem) }],
})

export const failure = (error: unknown): CallToolResult => told(problemOf(error))

export const badArguments = (tool: string, errors: readonly FieldError[]): CallToolResult =>
  told({
    code: 'invalid_request',
    detail: badFields(errors),
    errors,
    retryable: false,
    nextAction: `Correct the arguments listed in errors by the inputSchema of ${tool} and call ${tool} again.`,
  })

export const unknownTool = (offered: readonly string[]): CallToolResult =>
  told({
    code: 'invalid_request',
    detail: 'There is no such tool here.',
    errors: [{ field: 'name', message: 'is not one of the allowed values' }],
    retryable: false,
    nextAction: `Call one of ${offered.join(', ')}.`,
  })

function problemOf(error: unknown): ToolProblem {
  if (error instanceof Refusal) {
    const { code, detail, retryable, nextAction: _byHttp, ...more } = error.problem
    const { type: _type, title: _title, status: _status, ...helpful } = more
    return { code, detail, retryable, nextAction: nextActionFor(code), ...helpful }
  }
  if (error instanceof Unreachable) {
    const nextAction =
      'See that the service runs and that --url or DRAWBRIDGE_URL of drawbridge mcp names it, then call get_policy.'
    return { code: 'unreachable', detail: error.message, retryable: true, nextAction }
  }
  const nextAction = 'Report this: it is a fault of the MCP server.'
  return { code: 'internal_error', detail: 'The call could not be made.', retryable: false, nextAction }
}
