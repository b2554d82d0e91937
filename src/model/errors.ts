/**
 * The API's table of error codes. `docs/errors.md` documents it, and a test compares the two.
 * `nextAction` is the default advice; a refusal can replace it with more specific advice.
 */
interface ErrorEntry {
  readonly status: number
  readonly title: string
  readonly retryable: boolean
  readonly nextAction: string
}

const entry = (status: number, title: string, retryable: boolean, nextAction: string): ErrorEntry => ({
  status,
  title,
  retryable,
  nextAction,
})

export const ERRORS = {
  invalid_request: entry(
    400,
    'The request is not valid',
    false,
    'Correct the fields listed in errors and send the request again.',
  ),
  server_not_allowed: entry(
    422,
    'This server is not a deployment target',
    false,
    'Use one of servers.targets from GET /api/policy.',
  ),
  zone_not_managed: entry(422, 'This zone is not managed here', false, 'Use one of the zones from GET /api/policy.'),
  port_not_allowed: entry(
    422,
    'This port is not allowed',
    false,
    'Use a port inside ports.allowed and outside ports.denied from GET /api/policy.',
  ),
  backend_unhealthy: entry(
    422,
    'The backend is not healthy',
    true,
    'Make the health path answer with HTTP 2xx on that server and port, then plan again.',
  ),
  dns_name_taken: entry(409, 'The DNS name is taken', false, 'Choose another subdomain.'),
  dns_unavailable: entry(
    503,
    'The DNS server gave no certain answer',
    true,
    'Try again shortly. If the error stays, check the zone on its primary server.',
  ),
  certificate_unavailable: entry(
    422,
    'HTTPS is not possible for this name',
    true,
    'Fix the reason given in detail, or plan with tls: false.',
  ),
  internal_network_required: entry(
    403,
    'Only callers on the internal network may do this',
    false,
    'Call from an address inside internalNetworks of GET /api/policy.',
  ),
  capability_required: entry(
    401,
    'A capability is required',
    false,
    'Get one from POST /api/internal/token and send it in x-deploy-capability.',
  ),
  capability_invalid: entry(
    403,
    'The capability is not valid for this',
    false,
    'Get a new one from POST /api/internal/token for this plan and action, from this address.',
  ),
  capability_expired: entry(
    403,
    'The capability has expired',
    false,
    'Get a new one from POST /api/internal/token and use it within five minutes.',
  ),
  capability_used: entry(
    403,
    'The capability was already used',
    false,
    'Read the plan. Get a new capability if the plan is not finished.',
  ),
  admin_token_invalid: entry(
    403,
    'The administrator token is not valid',
    false,
    'Send the administrator token of this installation in x-deploy-token, or omit the header.',
  ),
  host_not_allowed: entry(
    421,
    'The Host header is not an address of this service',
    false,
    "Use the service's own address, or add the address that you use to publicUrls in the configuration.",
  ),
  origin_not_allowed: entry(
    403,
    'This origin may not call the service',
    false,
    "Call from the service's own page, or from a client that sends no Origin header.",
  ),
  plan_not_found: entry(404, 'The plan does not exist', false, 'Create a plan with POST /api/deploy/plan.'),
  host_not_found: entry(
    404,
    'The edge does not serve this host',
    false,
    'The host is not exposed. Plan it with POST /api/deploy/plan.',
  ),
  muted_by_configuration: entry(
    409,
    'The configuration mutes this host',
    false,
    'Remove muted from alerts.hosts of this host in the configuration and run drawbridge reload on the server.',
  ),
  plan_expired: entry(410, 'The plan has expired', false, 'Create a new plan with POST /api/deploy/plan.'),
  plan_not_applied: entry(
    409,
    'The plan is not applied',
    false,
    'Read the state of the plan. Only an applied plan can be removed, extended, repaired, accepted, renewed or replaced.',
  ),
  plan_already_applied: entry(
    409,
    'The plan is already applied',
    false,
    'Nothing is left to do. Read the plan for details.',
  ),
  plan_busy: entry(
    409,
    'Another run holds this plan or host',
    true,
    'Wait for that run to end. The plan shows its progress.',
  ),
  plan_stale: entry(
    409,
    'The situation changed after the plan was made',
    false,
    'Create a new plan with POST /api/deploy/plan and apply it.',
  ),
  proxy_name_taken: entry(
    409,
    'The edge already serves this name',
    false,
    'Choose another subdomain, or ask the administrator of the edge whose server block serves this name.',
  ),
  adopt_not_allowed: entry(
    403,
    'Adopting hand-written sites is off',
    false,
    'An administrator sets adopt.enabled to true in drawbridge.yaml and in edge.yaml, and restarts both units.',
  ),
  site_not_adoptable: entry(
    422,
    'An exposure cannot stand for this site',
    false,
    'Read reasons. On the edge, drawbridge import nginx names file and line of each.',
  ),
  loss_not_accepted: entry(
    409,
    'Adopting this site would lose something',
    false,
    'Read losses. If they do not matter, send acceptLoss: true.',
  ),
  lease_not_longer: entry(
    409,
    'Extend cannot shorten an exposure',
    false,
    'Send an expiresIn that ends later than expiresAt. To end the exposure sooner, remove it with a capability for remove.',
  ),
  changed_elsewhere: entry(
    409,
    'A repair would overwrite what somebody else changed',
    false,
    'Read GET /api/deploy/plans/{planId}/drift. Discard the change with POST /api/deploy/repair and overwrite: true, or keep it with POST /api/deploy/accept.',
  ),
  proxy_config_broken: entry(
    409,
    "The edge's nginx configuration is broken",
    true,
    'Nothing was changed. Repair the nginx configuration at the named place, or where nginx -t reports the error.',
  ),
  apply_failed: entry(
    502,
    'The apply failed and was rolled back',
    true,
    'Read steps (what failed) and rollback (what was undone). Then apply again with a new capability.',
  ),
  remove_failed: entry(
    502,
    'The remove failed and was rolled back',
    true,
    'Read steps for what failed. The exposure is still applied. Try again with a new capability.',
  ),
  repair_failed: entry(
    502,
    'The repair failed and was rolled back',
    true,
    'Read steps for what failed. Everything is as it was before the repair. Try again with a new capability.',
  ),
  accept_failed: entry(
    502,
    'The accept failed and was rolled back',
    true,
    'Read steps for what failed. The exposure is still managed here. Try again with a new capability.',
  ),
  renew_failed: entry(
    502,
    'The certificate was not renewed',
    true,
    'The old certificate is still served. Fix the reason given in detail and renew again.',
  ),
  rollback_blocked: entry(
    500,
    'The rollback failed; the host is blocked',
    false,
    'Run drawbridge resolve PLAN_ID --config FILE on the server. It shows what is left and finishes the rollback. The policy tells FILE as configFile to internal callers.',
  ),
  rate_limited: entry(429, 'Too many requests', true, 'Wait for the number of seconds in retryAfter, then try again.'),
  not_found: entry(404, 'This path does not exist', false, 'GET /api/openapi.json lists every path.'),
  method_not_allowed: entry(
    405,
    'This path does not support that method',
    false,
    'Use a method from the Allow header.',
  ),
  payload_too_large: entry(413, 'The request body is too large', false, 'Send a body of at most 16 KiB.'),
  unavailable: entry(503, 'The service cannot answer now', true, 'Try again shortly.'),
  internal_error: entry(
    500,
    'Internal error in Drawbridge',
    true,
    'Report the requestId to the administrator. The log of the service has the reason under this id.',
  ),
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof ERRORS

export interface FieldError {
  readonly field: string
  readonly message: string
}

/** Members of a problem beyond those of the table. They never hold a secret, a stack trace or the content of a file. */
export interface ProblemMembers {
  readonly errors?: readonly FieldError[]
  readonly nextAction?: string
  readonly retryAfter?: number
  readonly [member: string]: unknown
}

/** A refusal that the caller receives: a code of the table, a detail and optional members. */
export class Problem extends Error {
  readonly code: ErrorCode
  readonly members: ProblemMembers

  /** The text for places that show no members, such as the failed step of a run. */
  get sentence(): string {
    return this.message
  }

  constructor(code: ErrorCode, detail: string, members: ProblemMembers = {}) {
    super(detail)
    this.code = code
    this.members = members
  }
}

/** An expected failure outside of the program. Its message is for people: no secret, no stack trace, no file content. */
export class Fault extends Error {
  /** The error code for the caller, if this failure has its own. */
  readonly code: ErrorCode | undefined
  /** Seconds after which a retry can succeed, if known. */
  readonly retryAfter: number | undefined
  /** What another program said about it, quoted. It may not be believed, so it is never part of the message. */
  readonly said: string | undefined
}

/** What another program said about a failure, quoted. Also of one that was thrown because of another. */
export function saidIn(error: unknown): string | undefined {
  if (error instanceof Fault && error.said !== undefined) return error.said
  return error instanceof Error && error.cause !== undefined ? saidIn(error.cause) : undefined
}

/** The text about a thrown value that callers may see. */
export function sentenceOf(error: unknown): string {
  if (error instanceof Problem) return error.sentence
  return error instanceof Fault ? error.message : 'An unexpected error occurred; see the log of the service.'
}
