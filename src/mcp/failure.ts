import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { ActWords } from '../client/advice.ts'
import { nearestName } from '../client/nearest-name.ts'
import type { OtherOwner } from '../client/owner-of.ts'
import { NoPlan } from '../client/plan-of.ts'
import { isExposedHere, type ProblemBody, Refusal, Unreachable } from '../client/refusal.ts'
import type { ErrorCode, FieldError } from '../model/errors.ts'
import { badFields } from '../plan/desired.ts'

/** The body as structured content, and as text for clients that read only text. */
export const answer = (body: object): CallToolResult => ({
  structuredContent: { ...body },
  content: [{ type: 'text', text: asciiJson(body) }],
})

/** JSON in printable ASCII: text of other people stays inside its quotes, and no character of it can hide or reorder others. */
const asciiJson = (body: object): string =>
  JSON.stringify(body).replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** `retryable`: whether the same call can succeed later. `nextAction` names the tool to call next. */
interface ToolProblem {
  readonly code: string
  readonly detail: string
  readonly retryable: boolean
  readonly nextAction: string
  readonly [member: string]: unknown
}

const errorResult = (problem: ToolProblem): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: asciiJson(problem) }],
})

/** `planId`: the plan that the tool was called with. */
export const failure = (error: unknown, planId?: string): CallToolResult => errorResult(problemOf(error, planId))

export const badArguments = (tool: string, errors: readonly FieldError[]): CallToolResult =>
  errorResult({
    code: 'invalid_request',
    detail: badFields(errors),
    errors,
    retryable: false,
    nextAction: `Correct the arguments listed in errors to match the inputSchema of ${tool}, then call ${tool} again.`,
  })

export function unknownTool(name: string, offered: readonly string[]): CallToolResult {
  const meant = nearestName(name, offered)
  const better = meant === undefined ? '' : ` Did you mean ${meant}?`
  return errorResult({
    code: 'invalid_request',
    detail: `This server has no tool of that name.${better}`,
    errors: [{ field: 'name', message: 'is not one of the allowed values' }],
    retryable: false,
    nextAction: `Call one of ${offered.join(', ')}.`,
  })
}

/** The host belongs to somebody else, and no person has agreed to the change yet. */
export class Unconfirmed extends Error {
  readonly other: OtherOwner

  constructor(other: OtherOwner) {
    super(`${other.host} belongs to another owner. Nothing was changed.`)
    this.other = other
  }
}

/** What was sent as a plan id cannot be one. */
export class UnknownPlan extends Error {
  constructor() {
    super('No plan has this id.')
  }
}

function problemOf(error: unknown, planId: string | undefined): ToolProblem {
  if (error instanceof Refusal) {
    const { code, detail, retryable, nextAction: _forHttp, ...more } = error.problem
    const { type: _type, title: _title, status: _status, ...helpful } = more
    const isFrozen = isBlocked(error.problem)
    return {
      code,
      detail,
      retryable: retryable && !isFrozen,
      nextAction: nextActionFor(error.problem, planId),
      ...helpful,
    }
  }
  if (error instanceof Unreachable) {
    const nextAction =
      'Check that the service runs and that --url or DRAWBRIDGE_URL of drawbridge mcp is its address, then call get_policy.'
    return { code: 'unreachable', detail: error.message, retryable: true, nextAction }
  }
  if (error instanceof NoPlan) {
    const { message: detail, managed } = error
    return managed
      ? { code: 'internal_network_required', detail, retryable: false, nextAction: FROM_INSIDE }
      : { code: 'plan_not_found', detail, retryable: false, nextAction: NOT_OURS }
  }
  if (error instanceof UnknownPlan)
    return { code: 'plan_not_found', detail: error.message, retryable: false, nextAction: NEXT.plan_not_found }
  if (error instanceof Unconfirmed) {
    const { message: detail, other } = error
    return { code: 'owner_not_confirmed', detail, retryable: false, nextAction: ASK_OWNER, ...other }
  }
  const nextAction = 'Report this error: it is a bug in the MCP server.'
  return { code: 'internal_error', detail: 'The MCP server could not call the service.', retryable: false, nextAction }
}

const CALL_AGAIN = 'Call this tool again. Each call gets a new capability automatically.'
const FROM_INSIDE =
  'Ask a person in the internal network to do this, or run drawbridge mcp there. get_policy lists the internal networks.'
const NOT_OURS =
  'Drawbridge changes only hosts that it exposed. Ask a person who administers the edge to change this host.'
const ASK_OWNER =
  'Tell a person the host and its owner, and ask. If the person agrees, call this tool again with confirmOwner, set to the value of owner.'
const OTHER_VERSION = 'Ask a person to install the same version of the service and of this MCP server.'

/** What an agent can do about each error, in terms of tools: the `nextAction` of the API names HTTP calls. */
const NEXT: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'Correct the arguments listed in errors to match the inputSchema, then call this tool again.',
  server_not_allowed: 'Call get_policy, then plan_exposure with one of servers.targets.',
  zone_not_managed: 'Call get_policy, then plan_exposure with one of zones.',
  port_not_allowed:
    'Call get_policy, then plan_exposure with a port in ports.allowed that is in neither ports.denied nor ports.deniedOn.',
  backend_unhealthy: 'Make the health path answer HTTP 2xx on that server and port, then call this tool again.',
  adopt_not_allowed: 'Ask a person to set adopt.enabled in the configuration of the service.',
  site_not_adoptable: 'Tell the person who runs the edge what reasons says.',
  loss_not_accepted: 'Ask a person whether what losses names may be lost.',
  dns_name_taken: 'Call plan_exposure with another subdomain.',
  dns_unavailable:
    'Wait a minute, then call this tool again. If the error persists, tell the person who runs the DNS server.',
  certificate_unavailable: 'Fix the problem named in detail, or call plan_exposure with tls: false.',
  internal_network_required: FROM_INSIDE,
  capability_required: CALL_AGAIN,
  capability_invalid: CALL_AGAIN,
  capability_expired: CALL_AGAIN,
  capability_used: 'Call check_host to see the result. Call this tool again if the result is not what you want.',
  admin_token_invalid: FROM_INSIDE,
  host_not_allowed: 'Ask a person to start drawbridge mcp with --url and an address that the service accepts.',
  origin_not_allowed: 'Ask a person to start drawbridge mcp with --url and an address that the service accepts.',
  plan_not_found: 'Call plan_exposure to make a plan. list_hosts shows the planId of every exposure.',
  host_not_found: 'Call list_hosts to see every host. Plan a host that is not exposed with plan_exposure.',
  muted_by_configuration: 'Ask a person to change alerts.hosts in the configuration of the service.',
  plan_expired: 'Call plan_exposure to make a new plan.',
  plan_not_applied:
    'Only an applied plan can be removed, extended, repaired, accepted, renewed or replaced. Call list_hosts to see the planId of every exposure.',
  plan_already_applied: 'The plan is already applied. Call check_host to see the state of the host.',
  plan_busy:
    'Wait for retryAfter seconds, then call get_plan with the planId in holder to see the result of the other run. Call this tool again if needed.',
  plan_stale: 'Call plan_exposure to make a new plan, then apply_plan with its planId.',
  proxy_name_taken:
    'Choose another subdomain. To manage the site that serves this name, ask a person to run drawbridge adopt HOST.',
  lease_not_longer:
    'The exposure already lasts at least that long, or has no end. check_host shows when it expires. Call extend_exposure with a longer expiresIn if needed.',
  proxy_config_broken: 'Ask a person to repair the configuration of nginx, then call this tool again.',
  apply_failed: 'Fix the step that failed in steps, then call apply_plan again. rollback lists what was undone.',
  changed_elsewhere:
    'Call compare_exposure, show the differences to a person, and ask whether to discard them. If so, call repair_exposure with overwrite: true. To keep them, call accept_exposure.',
  repair_failed: 'Tell a person which step failed in steps. Everything is as it was before the repair.',
  accept_failed: 'Tell a person which step failed in steps. The exposure is still managed here.',
  renew_failed: 'Tell a person that the certificate was not renewed. The edge still serves the previous one.',
  remove_failed: 'Fix the step that failed in steps, then call remove_exposure again. The exposure is still applied.',
  rollback_blocked:
    'Stop, and ask a person to run drawbridge resolve PLAN_ID --config FILE on the server. get_policy tells FILE as configFile to internal callers.',
  rate_limited: 'Wait for retryAfter seconds, then call this tool again.',
  not_found: OTHER_VERSION,
  method_not_allowed: OTHER_VERSION,
  payload_too_large: 'Call this tool again with shorter arguments.',
  unavailable:
    'Wait for retryAfter seconds, or for a minute, then call this tool again. If the error persists, tell a person the detail.',
  internal_error: 'Tell a person the requestId. The log of the service has the reason under this id.',
}

/** A newer service can have codes that this program does not know. */
const UNKNOWN_CODE = 'Tell a person the detail. Call get_policy to see what is allowed.'

/** Only a run that is under way tells when to try again: a blocked plan waits for a person. */
const isBlocked = ({ code, retryAfter }: ProblemBody): boolean => code === 'plan_busy' && retryAfter === undefined

const nextActionFor = (problem: ProblemBody, planId: string | undefined): string => {
  if (isExposedHere(problem)) return EXPOSED_HERE
  if (isBlocked(problem) || problem.code === 'rollback_blocked') return resolving(problem, planId)
  if (problem.code === 'lease_not_longer' && problem.expiresAt === null) return HAS_NO_END
  return isKnown(problem.code) ? NEXT[problem.code] : UNKNOWN_CODE
}

/** The service names the plan of another run. */
const resolving = ({ nextAction }: ProblemBody, planId = 'PLAN_ID'): string =>
  NEXT.rollback_blocked.replace('PLAN_ID', /resolve (plan_[0-9a-z]+)/.exec(nextAction)?.[1] ?? planId)

const HAS_NO_END =
  'Do not call extend_exposure: the exposure has no end and stays until remove_exposure. To change something else, call plan_exposure without expiresIn.'

const EXPOSED_HERE =
  'Call plan_exposure with another subdomain. To change your own exposure, call check_host for its planId, then plan_exposure with that planId as replaces.'

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(NEXT, code)

/** What to do about a cause of a diagnosis, in terms of tools. */
export const TOOLS_FOR: ActWords = {
  beforeResolve: 'Stop, and ask a person. ',
  repair: 'Call repair_exposure with this host.',
  overwriteOrAccept:
    'Call compare_exposure and ask a person whether to discard the change. If so, call repair_exposure with overwrite: true. To keep the change, call accept_exposure.',
  overwrite:
    'Call compare_exposure and ask a person whether to discard the change. If so, call repair_exposure with overwrite: true.',
  renew: 'Call renew_certificate with this host.',
}
