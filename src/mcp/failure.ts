import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { Refusal, Unreachable } from '../client/refusal.ts'

/** An answer: for programs as it is, for models that only read text the same as text. */
export const answer = (body: object): CallToolResult => ({
  structuredContent: { ...body },
  content: [{ type: 'text', text: JSON.stringify(body) }],
})

/** A refusal as a tool's error: the code to go by, whether the same call may work later, and what to do. */
export function failure(error: unknown): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(problemOf(error)) }] }
}

function problemOf(error: unknown): object {
  if (error instanceof Refusal) {
    const { code, detail, retryable, nextAction, ...more } = error.problem
    const { type: _type, title: _title, status: _status, ...helpful } = more
    return { code, detail, retryable, nextAction, ...helpful }
  }
  if (error instanceof Unreachable) {
    const nextAction = 'See that the service runs and that --url or DRAWBRIDGE_URL names it.'
    return { code: 'unreachable', detail: error.message, retryable: true, nextAction }
  }
  const nextAction = 'Report this: it is a fault of the MCP server.'
  return { code: 'internal_error', detail: 'The call could not be made.', retryable: false, nextAction }
}
