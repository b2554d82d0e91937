import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { Refusal, Unreachable } from '../client/refusal.ts'
import type { ErrorCode, FieldError } from '../model/errors.ts'
import { badFields } from '../plan/desire.ts'

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

const AGAIN_BY_ITSELF = 'Call this tool again: it gets a new capability by itself.'
const FROM_INSIDE =
  'Ask a person inside the internal network to do this, or run drawbridge mcp there; get_policy tells which networks are internal.'
const OTHER_VERSION = 'Ask a person to bring the service and this MCP server to the same version.'

/** What an agent can do about each refusal: the API's own nextAction speaks of HTTP calls, which an agent cannot make here. */
const NEXT: Readonly<Record<ErrorCode, string>> = {
  invalid_request: "Correct the arguments listed in errors by the tool's inputSchema and call this tool again.",
  server_not_allowed: 'Call get_policy, then plan_exposure with one of servers.targets.',
  zone_not_managed: 'Call get_policy, then plan_exposure with one of zones.',
  port_not_allowed:
    'Call get_policy, then plan_exposure with a port that ports.allowed includes and neither ports.denied nor ports.deniedOn names.',
  backend_unhealthy: 'Make the health path answer with HTTP 2xx on that server and port, then call this tool again.',
  dns_name_taken: 'Call plan_exposure with another subdomain.',
  dns_unavailable: 'Wait a minute, then call this tool again; if it persists, tell the person who runs the DNS server.',
  certificate_unavailable: 'Remove the reason named in detail, or call plan_exposure with tls: false.',
  internal_network_required: FROM_INSIDE,
  capability_required: AGAIN_BY_ITSELF,
  capability_invalid: AGAIN_BY_ITSELF,
  capability_expired: AGAIN_BY_ITSELF,
  capability_used: 'Call check_host to see what was done; call this tool again if there is still something to do.',
  admin_token_invalid: FROM_INSIDE,
  host_not_allowed: 'Ask a person to start drawbridge mcp with --url and an address that the service calls its own.',
  origin_not_allowed: 'Ask a person to start drawbridge mcp with --url and an address that the service calls its own.',
  plan_not_found: 'Call plan_exposure to make a plan; list_hosts tells the planId of every exposure.',
  host_not_found: 'Call list_hosts to see every host; a host that is not exposed may be planned with plan_exposure.',
  plan_expired: 'Call plan_exposure to make a new plan.',
  plan_not_applied: 'Call list_hosts to see the planId of every exposure; only an applied plan can be removed.',
  plan_already_applied: 'Nothing is left to do; call check_host to see how the host does.',
  plan_busy: 'Wait for the other run to end; call check_host to see what it left, then this tool again if need be.',
  plan_stale: 'Call plan_exposure to make a new plan, then apply_plan with its planId.',
  proxy_name_taken:
    'Choose another subdomain, or ask a person who administers the edge about the server block that serves this name.',
  lease_not_longer: 'Nothing is left to do: the exposure lives at least as long; check_host tells until when.',
  proxy_config_broken: 'Ask a person to repair the configuration of nginx, then call this tool again.',
  apply_failed: 'Mend what failed by steps (rollback tells what was put back), then call apply_plan again.',
  renew_failed: 'Tell a person: the certificate was not renewed, and the former one is still served.',
  remove_failed: 'Mend what failed by steps, then call remove_exposure again; the exposure is applied as before.',
  rollback_blocked: 'Stop, and ask a person to run drawbridge resolve with the plan id on the server.',
  rate_limited: 'Wait for the seconds given in retryAfter, then call this tool again.',
  not_found: OTHER_VERSION,
  method_not_allowed: OTHER_VERSION,
  payload_too_large: 'Call this tool again with shorter arguments.',
  unavailable:
    'Wait for the seconds given in retryAfter, or a minute, then call this tool again; if it persists, tell a person what detail says.',
  internal_error: 'Tell a person the requestId: the log of the service has the reason under it.',
}

/** A service that is newer than this program may have codes that are not known here. */
const UNKNOWN_CODE = 'Tell a person what detail says; call get_policy to see what is allowed here.'

const nextActionFor = (code: string): string => (isKnown(code) ? NEXT[code] : UNKNOWN_CODE)

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(NEXT, code)
