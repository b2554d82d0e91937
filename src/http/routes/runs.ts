import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../authorize/caller.ts'
import type { Afters, Verification } from '../../model/receipt.ts'
import type { RunResult } from '../../runs/engine/ending.ts'
import type { Exposer } from '../../usecases/exposer.ts'
import { type Started, succeeded } from '../../usecases/run-starter.ts'
import type { App } from '../app.ts'
import { publicStep } from '../guard/public-view.ts'
import { credentialsOf } from '../guard/request-guard.ts'
import { FOUND_BY_CHECKS, problems } from '../schemas/problem-schemas.ts'
import {
  AcceptedBody,
  AppliedBody,
  ExtendedBody,
  ExtendRequestBody,
  RemovedBody,
  RenewedBody,
  RunRequestBody,
} from '../schemas/run-schemas.ts'

/** The refusals of every run. */
export const REFUSALS = [
  'invalid_request',
  'payload_too_large',
  'internal_network_required',
  'plan_not_found',
  'capability_required',
  'capability_invalid',
  'capability_expired',
  'capability_used',
  'admin_token_invalid',
  'plan_busy',
] as const

/** One of the two, as the policy permits. */
const CREDENTIALS: Record<string, string[]>[] = [{ capability: [] }, { adminToken: [] }]

export function runRoutes(app: App, exposer: Exposer): void {
  applyRoute(app, exposer)
  removeRoute(app, exposer)
  extendRoute(app, exposer)
  renewRoute(app, exposer)
}

function applyRoute(app: App, exposer: Exposer): void {
  app.post(
    '/api/deploy/apply',
    {
      config: { guarded: 'apply', audited: 'apply' },
      schema: {
        operationId: 'applyPlan',
        security: CREDENTIALS,
        tags: ['deploy'],
        summary: 'Apply a plan: certificate, proxy and DNS together, verified on the Primary, or rolled back',
        body: RunRequestBody,
        response: {
          200: AppliedBody,
          202: AcceptedBody,
          ...problems(
            ...REFUSALS,
            'plan_expired',
            'plan_already_applied',
            'plan_stale',
            ...FOUND_BY_CHECKS,
            'apply_failed',
            'rollback_blocked',
          ),
        },
      },
    },
    async (request, reply) => {
      const started = await exposer.apply(request.body.planId, request.caller, credentialsOf(request))
      if (prefersAsync(request)) return accepted(reply, started)
      const { plan } = started
      const { outcome, afters, finishedAt } = await succeeded(started)
      const verification = verified(afters)
      return reply.send({
        planId: plan.planId,
        state: 'applied',
        host: plan.host,
        url: plan.url,
        steps: shownSteps(outcome, request.caller),
        verification,
        warnings: warningsOf(verification),
        appliedAt: new Date(finishedAt).toISOString(),
      })
    },
  )
}

function removeRoute(app: App, exposer: Exposer): void {
  app.post(
    '/api/deploy/remove',
    {
      config: { guarded: 'remove', audited: 'remove' },
      schema: {
        operationId: 'removeExposure',
        security: CREDENTIALS,
        tags: ['deploy'],
        summary: 'Remove the exposure of an applied plan: DNS first, then the proxy',
        body: RunRequestBody,
        response: {
          200: RemovedBody,
          202: AcceptedBody,
          ...problems(
            ...REFUSALS,
            'plan_expired',
            'zone_not_managed',
            'plan_not_applied',
            'proxy_config_broken',
            'remove_failed',
            'rollback_blocked',
          ),
        },
      },
    },
    async (request, reply) => {
      const started = await exposer.remove(request.body.planId, request.caller, credentialsOf(request))
      if (prefersAsync(request)) return accepted(reply, started)
      const { plan } = started
      const { outcome, finishedAt } = await succeeded(started)
      return reply.send({
        planId: plan.planId,
        state: 'removed',
        host: plan.host,
        steps: shownSteps(outcome, request.caller),
        removedAt: new Date(finishedAt).toISOString(),
      })
    },
  )
}

function extendRoute(app: App, exposer: Exposer): void {
  app.post(
    '/api/deploy/extend',
    {
      config: { guarded: 'apply', audited: 'extend' },
      schema: {
        operationId: 'extendExposure',
        security: CREDENTIALS,
        tags: ['deploy'],
        summary: 'Extend the lifetime of an applied plan, counted from now; never shortens it; authorized like apply',
        body: ExtendRequestBody,
        response: {
          200: ExtendedBody,
          ...problems(...REFUSALS, 'plan_expired', 'plan_not_applied', 'lease_not_longer'),
        },
      },
    },
    async (request) => {
      const { planId, expiresIn } = request.body
      const expiresAt = await exposer.extend(planId, expiresIn, request.caller, credentialsOf(request))
      return { planId, expiresAt: new Date(expiresAt).toISOString() }
    },
  )
}

/** Without `respond-async` the answer waits for the certificate authority. An order takes seconds. */
function renewRoute(app: App, exposer: Exposer): void {
  app.post(
    '/api/deploy/renew',
    {
      config: { guarded: 'renew', audited: 'renew' },
      schema: {
        operationId: 'renewCertificate',
        security: [{ capability: [] }],
        tags: ['deploy'],
        summary: "Renew the certificate of an applied plan's host now, within the order budget",
        body: RunRequestBody,
        response: {
          200: RenewedBody,
          202: AcceptedBody,
          ...problems(
            ...REFUSALS,
            'plan_expired',
            'plan_not_applied',
            'certificate_unavailable',
            'proxy_config_broken',
            'renew_failed',
          ),
        },
      },
    },
    async (request, reply) => {
      const started = await exposer.renew(request.body.planId, request.caller, credentialsOf(request))
      if (prefersAsync(request)) return accepted(reply, started)
      const { plan } = started
      const { afters, finishedAt } = await succeeded(started)
      const { certificate, verify } = afters
      if (!certificate) throw new Error('a renewal succeeded without a certificate')
      return reply.send({
        planId: plan.planId,
        state: 'applied',
        host: plan.host,
        certificate: {
          names: [...certificate.names],
          notBefore: new Date(certificate.notBefore).toISOString(),
          notAfter: new Date(certificate.notAfter).toISOString(),
          fingerprint: certificate.fingerprint,
          source: certificate.source === 'issued' ? 'issued' : 'reused',
        },
        warnings: verify ? warningsOf(verify) : [],
        renewedAt: new Date(finishedAt).toISOString(),
      })
    },
  )
}

/** In the legacy flow a caller from outside may run a plan, too. */
export const shownSteps = ({ steps }: RunResult['outcome'], { network }: Caller) =>
  network === 'internal' ? [...steps] : steps.map(publicStep)

/** A run that ends with the step verify succeeds only with a verification. */
export function verified({ verify }: Afters): Verification {
  if (!verify) throw new Error('a run succeeded without a verification')
  return verify
}

/** The Secondary never decides, so its failure is a warning. */
export const warningsOf = ({ secondary }: Verification): string[] =>
  secondary && !secondary.ok ? [secondary.detail] : []

export const prefersAsync = ({ headers }: FastifyRequest): boolean =>
  [headers.prefer ?? []]
    .flat()
    .join()
    .toLowerCase()
    .split(',')
    .some((preference) => preference.trim() === 'respond-async')

/** Answers 202: the run continues without the caller. */
export function accepted(reply: FastifyReply, { plan, result }: Started): FastifyReply {
  result.catch(() => undefined)
  const { planId, host } = plan
  const path = `/api/deploy/plans/${planId}`
  return reply
    .code(202)
    .headers({ location: path, 'preference-applied': 'respond-async' })
    .send({ planId, host, progress: `${path}/events` })
}
