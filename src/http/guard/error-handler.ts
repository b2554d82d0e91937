import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AuditTrail } from '../../audit/trail.ts'
import { hideCapabilities } from '../../authorize/credentials.ts'
import type { AuditEntry } from '../../model/audit.ts'
import { parseHost, parseLabel, parseName } from '../../model/dns-name.ts'
import { type ErrorCode, Problem } from '../../model/errors.ts'
import { isPlanId } from '../../model/exposure.ts'
import type { Clock } from '../../primitives/clock.ts'
import { StoreUnavailable } from '../../store/ports/store.ts'
import { PROBLEM_TYPE, type ProblemBody, problemBody, toProblem } from './problem.ts'
import { publicProblem } from './public-view.ts'
import type { Budgets } from './rate-limit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The error code of the refusal, for the log line of the request. */
    refusedWith: ErrorCode | undefined
  }
}

const FAILED_CREDENTIALS: readonly ErrorCode[] = [
  'capability_invalid',
  'capability_expired',
  'capability_used',
  'admin_token_invalid',
]

interface ErrorParts {
  readonly trail: AuditTrail
  readonly budgets: Budgets
  readonly clock: Clock
  /** Answers a browser in which a person opens the page. Undefined: the client gets the problem itself. */
  readonly problemPage: (request: FastifyRequest, reply: FastifyReply, problem: ProblemBody) => FastifyReply | undefined
}

/** Handles every refused request: counts it, records it in the audit, logs it and answers it. */
export function handleErrors(app: FastifyInstance, { trail, budgets, clock, problemPage }: ErrorParts): void {
  app.decorateRequest('refusedWith', undefined)
  app.setNotFoundHandler(() => {
    throw new Problem('not_found', 'This path does not exist.')
  })
  app.setErrorHandler(async (error, request, reply) => {
    let problem = toProblem(error, request.caller)
    if (problem.code === 'internal_error' || error instanceof StoreUnavailable) {
      request.log.error({ event: 'request_failed', err: error }, 'Request failed because of an internal error.')
    }
    problem = await countFailedCredential(problem, request, budgets)
    problem = await recordRefusal(problem, request, trail, clock.now())
    request.refusedWith = problem.code
    if (request.caller.network === 'public') problem = publicProblem(problem)
    const body = problemBody(problem, request.id)
    if (problem.members.retryAfter !== undefined) reply.header('retry-after', String(problem.members.retryAfter))
    const page = problemPage(request, reply, body)
    if (page) return page
    // A problem repeats field names of the caller, and such a name can contain a capability.
    return reply
      .status(body.status)
      .type(PROBLEM_TYPE)
      .send(hideCapabilities(JSON.stringify(body)))
  })
}

async function countFailedCredential(problem: Problem, request: FastifyRequest, budgets: Budgets): Promise<Problem> {
  if (!FAILED_CREDENTIALS.includes(problem.code)) return problem
  return budgets.spend(request, 'failedCredential').then(
    () => problem,
    (fault: unknown) => toProblem(fault, request.caller),
  )
}

/** Every refusal of an audited route is recorded. If the audit cannot be written, the answer is `unavailable`. */
async function recordRefusal(
  problem: Problem,
  request: FastifyRequest,
  trail: AuditTrail,
  at: number,
): Promise<Problem> {
  const action = request.routeOptions.config?.audited
  if (!action) return problem
  const { address: actor, network } = request.caller
  const { code } = problem
  const about = subject(request.body, request.params)
  const entry: AuditEntry = { at, actor, network, action, outcome: 'refused', code, ...about }
  const facts = { code, network, actor }
  try {
    await (action === 'plan' && about.host !== undefined
      ? trail.recordAndPublish(entry, { at, type: 'plan.refused', host: about.host, facts })
      : trail.record(entry))
    return problem
  } catch (error) {
    request.log.error({ event: 'audit_not_written', err: error }, 'The audit line of a refusal could not be written.')
    return toProblem(error instanceof StoreUnavailable ? error : new StoreUnavailable(error), request.caller)
  }
}

/** The plan or host that a refused body or path names, if it can be read. */
function subject(body: unknown, params: unknown): { planId?: string; host?: string } {
  const { planId, zone, subdomain } = (body ?? {}) as Record<string, unknown>
  const { host } = (params ?? {}) as Record<string, unknown>
  if (typeof planId === 'string' && isPlanId(planId)) return { planId }
  const label = typeof subdomain === 'string' ? parseLabel(subdomain) : undefined
  const parent = typeof zone === 'string' ? parseName(zone) : undefined
  const named = typeof host === 'string' ? parseHost(host) : undefined
  return label && parent ? { host: `${label}.${parent}` } : named ? { host: named } : {}
}
