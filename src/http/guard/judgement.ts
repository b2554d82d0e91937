import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Admission, Credentials } from '../../authorize/admission.ts'
import type { Caller, CallerRules } from '../../authorize/caller.ts'
import { ADMIN_TOKEN_HEADER, CAPABILITY_HEADER } from '../../authorize/credentials.ts'
import type { GuardedAction } from '../../authorize/flows.ts'
import { Problem } from '../../model/errors.ts'
import type { Gate } from './gate.ts'
import { isPlain } from './path.ts'
import type { Budget, Budgets } from './rate-limit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
  interface FastifyContextConfig {
    /** Which of the caller's budgets a request costs; `read` when nothing is said, none for `free`. */
    budget?: keyof Budget | 'free'
    /** Only callers who may do this get past the network's gate. */
    guarded?: GuardedAction
    /** Read by callers of the internal network only. */
    inside?: boolean
    /** Refusals of this route go to the audit trail under this name. */
    audited?: 'plan' | 'token' | 'apply' | 'remove' | 'extend' | 'renew'
    /** A probe of the machine's own: asked under any Host. */
    anyHost?: boolean
    /** Set on the stand-ins for methods that an address does not take: those it does. */
    allow?: string[]
  }
}

interface JudgementParts {
  readonly callers: CallerRules
  readonly gate: Gate
  readonly admission: Admission
  readonly budgets: Budgets
  readonly isClosing: () => boolean
}

/**
 * What every request goes through before its body is read, in the order the contract promises: Host and Origin, route
 * and method, budget, network. The first that fails answers.
 */
export function judgeRequests(
  app: FastifyInstance,
  { callers, gate, admission, budgets, isClosing }: JudgementParts,
): void {
  const strangers = new Set<string>()

  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const { budget = 'read', guarded, inside, anyHost, allow } = request.routeOptions.config ?? {}
    request.caller = callers.identify(request.socket.remoteAddress ?? '', request.headers)
    reply.headers({ 'cache-control': 'no-store', 'x-request-id': request.id })
    if (request.caller.unconfiguredProxy) tellOfProxy(request, strangers)
    if (!anyHost) gate.check(request)
    if (!isPlain(request)) throw nothingHere()
    if (allow) throw wrongMethod(request, reply, allow)
    if (request.is404) throw nothingHere()
    if (isClosing() && !anyHost) throw new Problem('unavailable', 'The service is shutting down.', { retryAfter: 5 })
    if (budget !== 'free') await budgets.spend(request, budget)
    if (inside && request.caller.network !== 'internal') throw fromOutside()
    if (!guarded) return
    const credentials = credentialsOf(request)
    if (credentials.capability !== undefined || credentials.adminToken !== undefined) budgets.refuseGuesser(request)
    admission.checkNetwork(request.caller, credentials)
  })
}

/** A header sent twice arrives joined and is then no credential at all: refused, never half read. */
export function credentialsOf({ headers }: FastifyRequest): Credentials {
  return { capability: sole(headers[CAPABILITY_HEADER]), adminToken: sole(headers[ADMIN_TOKEN_HEADER]) }
}

const sole = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value.join() : value)

const fromOutside = () => new Problem('internal_network_required', 'The call came from outside the internal network.')

const nothingHere = () => new Problem('not_found', 'There is nothing at this address.')

function wrongMethod(request: FastifyRequest, reply: FastifyReply, allow: string[]): Problem {
  reply.header('allow', allow.join(', '))
  return new Problem('method_not_allowed', `${request.method} is not taken here; ${allow.join(' and ')} is.`)
}

const MOST_STRANGERS = 1000

/** Once per proxy: the line that would configure it is more use than a mystery of refusals. */
function tellOfProxy(request: FastifyRequest, strangers: Set<string>): void {
  const { address } = request.caller
  if (strangers.has(address) || strangers.size >= MOST_STRANGERS) return
  strangers.add(address)
  request.log.warn(
    { proxy: address, configure: `trustedProxies: [${address}]` },
    'A proxy that is not configured forwards requests; its callers are treated as public',
  )
}
