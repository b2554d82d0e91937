import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Admission, Credentials } from '../../authorize/admission.ts'
import type { Caller, CallerRules } from '../../authorize/caller.ts'
import { ADMIN_TOKEN_HEADER, CAPABILITY_HEADER } from '../../authorize/credentials.ts'
import type { GuardedAction } from '../../authorize/flows.ts'
import type { AuditAction } from '../../model/audit.ts'
import { Problem } from '../../model/errors.ts'
import type { HostCheck } from './host-check.ts'
import { isPlain } from './path.ts'
import type { Budget, Budgets } from './rate-limit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
  interface FastifyContextConfig {
    /** The rate limit that the request counts against. `read` if undefined; `free` counts against none. */
    budget?: keyof Budget | 'free'
    /** The action of a protected route. The network of the caller must permit it. */
    guarded?: GuardedAction
    /** Only callers on the internal network may use the route. */
    internalOnly?: boolean
    /** Refusals of this route are recorded in the audit with this action. */
    audited?: AuditAction
    /** A probe of the machine itself. The Host header is not checked. */
    anyHost?: boolean
    /** Set on the routes for unsupported methods: the supported methods of the path. */
    allow?: string[]
  }
}

interface RequestGuardParts {
  readonly callers: Pick<CallerRules, 'identify'>
  readonly hostCheck: HostCheck
  readonly admission: Admission
  readonly budgets: Budgets
  readonly isClosing: () => boolean
}

/**
 * Checks every request before its body is read, in the documented order: Host and Origin, path and method, rate limit,
 * network. The first failed check answers.
 */
export function guardRequests(
  app: FastifyInstance,
  { callers, hostCheck, admission, budgets, isClosing }: RequestGuardParts,
): void {
  const warnedProxies = new Set<string>()

  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const { budget = 'read', guarded, internalOnly, anyHost, allow } = request.routeOptions.config ?? {}
    request.caller = callers.identify(request.socket.remoteAddress ?? '', request.headers)
    reply.headers({ 'cache-control': 'no-store', 'x-request-id': request.id })
    if (request.caller.unconfiguredProxy) warnAboutProxy(request, warnedProxies)
    if (!anyHost) hostCheck.check(request)
    if (!isPlain(request)) throw nothingHere()
    if (allow) throw wrongMethod(request, reply, allow)
    if (request.is404) throw nothingHere()
    if (isClosing() && !anyHost) throw new Problem('unavailable', 'The service is shutting down.', { retryAfter: 5 })
    if (budget !== 'free') await budgets.spend(request, budget)
    if (internalOnly && request.caller.network !== 'internal') throw fromOutside()
    if (!guarded) return
    const credentials = credentialsOf(request)
    if (credentials.capability !== undefined || credentials.adminToken !== undefined)
      budgets.refuseAfterFailures(request)
    admission.checkNetwork(request.caller, credentials)
  })
}

/** A header that was sent twice arrives joined. The joined value is not a valid credential, so the request is refused. */
export function credentialsOf({ headers }: FastifyRequest): Credentials {
  return { capability: sole(headers[CAPABILITY_HEADER]), adminToken: sole(headers[ADMIN_TOKEN_HEADER]) }
}

const sole = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value.join() : value)

const fromOutside = () => new Problem('internal_network_required', 'The caller is not on the internal network.')

const nothingHere = () => new Problem('not_found', 'This path does not exist.')

function wrongMethod(request: FastifyRequest, reply: FastifyReply, allow: string[]): Problem {
  reply.header('allow', allow.join(', '))
  return new Problem(
    'method_not_allowed',
    `This path does not support ${request.method}. Supported methods: ${allow.join(', ')}.`,
  )
}

const MOST_WARNED_PROXIES = 1000

/** Warns once per proxy, with the setting that would configure it. */
function warnAboutProxy(request: FastifyRequest, warnedProxies: Set<string>): void {
  const { address } = request.caller
  if (warnedProxies.has(address) || warnedProxies.size >= MOST_WARNED_PROXIES) return
  warnedProxies.add(address)
  request.log.warn(
    { event: 'unknown_proxy', proxy: address, configure: `trustedProxies: [${address}]` },
    `The proxy ${address} is not in trustedProxies; its callers count as public.`,
  )
}
