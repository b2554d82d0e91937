/**
 * Every code an answer can carry: the API's one table. `docs/errors.md` documents it and a test holds the two together.
 * `nextAction` is what a caller can do when the place that refuses knows nothing better.
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
    'Correct the fields listed in errors and send it again.',
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
    'Try again shortly; if it persists, look at the zone on its primary server.',
  ),
  certificate_unavailable: entry(
    422,
    'HTTPS cannot be had for this name',
    true,
    'Remove the reason named in detail, or plan with tls: false.',
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
    'The capability was used before',
    false,
    'Look at the plan; get a new capability if there is still something to do.',
  ),
  admin_token_invalid: entry(
    403,
    'The administrator token is not valid',
    false,
    'Send the administrator token kept on the server in x-deploy-token, or leave the header out.',
  ),
  host_not_allowed: entry(
    421,
    'This host is not served here',
    false,
    "Use the service's own address, or add the address you use to publicUrls in its configuration.",
  ),
  origin_not_allowed: entry(
    403,
    'This origin may not call the service',
    false,
    "Call from the service's own page, or from a client that sends no Origin header.",
  ),
  plan_not_found: entry(404, 'There is no such plan', false, 'Make one with POST /api/deploy/plan.'),
  host_not_found: entry(
    404,
    'No such host is served here',
    false,
    'The host is not exposed and may be planned with POST /api/deploy/plan.',
  ),
  plan_expired: entry(410, 'The plan has expired', false, 'Make a new one with POST /api/deploy/plan.'),
  plan_not_applied: entry(
    409,
    'The plan is not applied',
    false,
    'Only an applied plan can be removed; look at its state.',
  ),
  plan_already_applied: entry(409, 'The plan is applied already', false, 'Nothing is left to do; look at the plan.'),
  plan_busy: entry(
    409,
    'Another run holds this plan or host',
    true,
    'Wait for it to end; the plan shows its progress.',
  ),
  plan_stale: entry(
    409,
    'What the plan saw has changed',
    false,
    'Make a new plan with POST /api/deploy/plan and apply that.',
  ),
  proxy_name_taken: entry(
    409,
    'The edge serves this name already',
    false,
    'Choose another subdomain, or ask the administrator of the edge whose server block serves this name.',
  ),
  lease_not_longer: entry(
    409,
    'An extend does not shorten',
    false,
    'Send an expiresIn that ends later than expiresAt tells; to end an exposure sooner takes a capability to remove it.',
  ),
  proxy_config_broken: entry(
    409,
    "The edge's configuration is broken",
    true,
    'Repair the configuration of nginx at the place that is named, or that nginx -t names; nothing was changed here.',
  ),
  apply_failed: entry(
    502,
    'The apply failed and was put back',
    true,
    'See steps for what failed and rollback for what was put back; then apply again with a new capability.',
  ),
  remove_failed: entry(
    502,
    'The remove failed and was put back',
    true,
    'See steps for what failed; the exposure is applied as before. Try again with a new capability.',
  ),
  renew_failed: entry(
    502,
    'The certificate was not renewed',
    true,
    'The former certificate is still served. Remove the reason named in detail and renew again.',
  ),
  rollback_blocked: entry(
    500,
    'Putting back failed: the host is frozen',
    false,
    'Run drawbridge resolve with the plan id on the server: it shows what is left and finishes it.',
  ),
  rate_limited: entry(429, 'Too many requests', true, 'Wait for the seconds given in retryAfter.'),
  not_found: entry(404, 'There is nothing at this address', false, 'GET /api/openapi.json lists every address.'),
  method_not_allowed: entry(
    405,
    'This address does not take that method',
    false,
    'Use a method from the Allow header.',
  ),
  payload_too_large: entry(413, 'The request body is too large', false, 'Send at most 16 KiB.'),
  unavailable: entry(503, 'The service cannot answer now', true, 'Try again shortly.'),
  internal_error: entry(
    500,
    'Something went wrong inside Drawbridge',
    true,
    'Report the requestId; the log has the reason under it.',
  ),
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof ERRORS

export interface FieldError {
  readonly field: string
  readonly message: string
}

/** Members of a problem beyond the table's own. Never a secret, a stack or a file's content. */
export interface ProblemMembers {
  readonly errors?: readonly FieldError[]
  readonly nextAction?: string
  readonly retryAfter?: number
  readonly [member: string]: unknown
}

/** A refusal on its way to the caller: a code of the table, one sentence, and what helps. */
export class Problem extends Error {
  readonly code: ErrorCode
  readonly members: ProblemMembers

  /** What is said of it where it stands alone, without its members: in the step of a run that it ended. */
  get sentence(): string {
    return this.message
  }

  constructor(code: ErrorCode, detail: string, members: ProblemMembers = {}) {
    super(detail)
    this.code = code
    this.members = members
  }
}

/** A failure of the world, not of the program, with a sentence meant to be read: no secret, no stack, no file's content. */
export class Fault extends Error {
  /** The code it carries to the caller, where it has one of its own. */
  readonly code: ErrorCode | undefined
  /** Seconds after which it may be worth trying again, where that is known. */
  readonly retryAfter: number | undefined
}

/** What may be told of whatever was thrown. */
export function sentenceOf(error: unknown): string {
  if (error instanceof Problem) return error.sentence
  return error instanceof Fault ? error.message : 'An unexpected fault; the log tells more.'
}
