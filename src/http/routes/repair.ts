import type { Caller } from '../../authorize/caller.ts'
import { Problem } from '../../model/errors.ts'
import type { Exposer } from '../../usecases/exposer.ts'
import { type Started, succeeded } from '../../usecases/run-starter.ts'
import type { App } from '../app.ts'
import { credentialsOf } from '../guard/request-guard.ts'
import { problems } from '../schemas/problem-schemas.ts'
import { AcceptedBody, ReleasedBody, RepairedBody, RepairRequestBody, RunRequestBody } from '../schemas/run-schemas.ts'
import type { DriftReader } from './plans.ts'
import { accepted, prefersAsync, REFUSALS, shownSteps, verified, warningsOf } from './runs.ts'

/** Why a host is not left as it stands. */
const REFUSALS_TO_LEAVE = [
  ...REFUSALS,
  'plan_expired',
  'plan_not_applied',
  'zone_not_managed',
  'dns_unavailable',
  'proxy_config_broken',
  'accept_failed',
  'rollback_blocked',
] as const

/** What to do about drift: write the plan again, or keep what others changed and stop managing the host. */
export function repairRoutes(app: App, exposer: Exposer, drift: DriftReader): void {
  repairRoute(app, exposer)
  acceptRoute(app, exposer)
  releaseRoute(app, exposer, drift)
}

function releaseRoute(app: App, exposer: Exposer, drift: DriftReader): void {
  app.post(
    '/api/deploy/release',
    {
      config: { guarded: 'release', audited: 'release' },
      schema: {
        operationId: 'releaseExposure',
        security: [{ capability: [] }],
        tags: ['deploy'],
        summary: 'Give a host back as a file of its own: it stays on the air, and Drawbridge no longer manages it',
        body: RunRequestBody,
        response: {
          200: ReleasedBody,
          202: AcceptedBody,
          ...problems(...REFUSALS_TO_LEAVE, 'changed_elsewhere'),
        },
      },
    },
    async (request, reply) => {
      const { planId } = request.body
      const assertIntact = async () => {
        const differences = await drift(planId)
        if (differences.length === 0) return
        throw new Problem('changed_elsewhere', 'The host differs from its plan, so it was not released.', {
          nextAction: 'Repair it with POST /api/deploy/repair, or keep it as it stands with POST /api/deploy/accept.',
        })
      }
      const started = await exposer.release(planId, request.caller, credentialsOf(request), assertIntact)
      return prefersAsync(request) ? accepted(reply, started) : reply.send(await releasedBody(started, request.caller))
    },
  )
}

async function releasedBody(started: Started, caller: Caller) {
  const { planId, host, request } = started.plan
  const { outcome, afters, finishedAt } = await succeeded(started)
  return {
    planId,
    state: 'released' as const,
    host,
    steps: shownSteps(outcome, caller),
    // Undefined where the entry was gone before: then no file was written.
    file: afters.proxy?.released ?? null,
    warnings: request.tls ? [`Drawbridge no longer renews the certificate of ${host}.`] : [],
    releasedAt: new Date(finishedAt).toISOString(),
  }
}

function repairRoute(app: App, exposer: Exposer): void {
  app.post(
    '/api/deploy/repair',
    {
      config: { guarded: 'repair', audited: 'repair' },
      schema: {
        operationId: 'repairExposure',
        security: [{ capability: [] }],
        tags: ['deploy'],
        summary: 'Repair the exposure of an applied plan: write certificate, proxy and DNS again as they were applied',
        body: RepairRequestBody,
        response: {
          200: RepairedBody,
          202: AcceptedBody,
          ...problems(
            ...REFUSALS,
            'plan_expired',
            'plan_not_applied',
            'changed_elsewhere',
            'zone_not_managed',
            'dns_unavailable',
            'certificate_unavailable',
            'proxy_name_taken',
            'proxy_config_broken',
            'repair_failed',
            'rollback_blocked',
          ),
        },
      },
    },
    async (request, reply) => {
      const { planId, overwrite = false } = request.body
      const started = await exposer.repair(planId, overwrite, request.caller, credentialsOf(request))
      if (prefersAsync(request)) return accepted(reply, started)
      const { host, url } = started.plan
      const { outcome, afters, finishedAt } = await succeeded(started)
      const verification = verified(afters)
      return reply.send({
        planId,
        state: 'applied',
        host,
        url,
        steps: shownSteps(outcome, request.caller),
        verification,
        warnings: warningsOf(verification),
        repairedAt: new Date(finishedAt).toISOString(),
      })
    },
  )
}

function acceptRoute(app: App, exposer: Exposer): void {
  app.post(
    '/api/deploy/accept',
    {
      config: { guarded: 'accept', audited: 'accept' },
      schema: {
        operationId: 'acceptExposure',
        security: [{ capability: [] }],
        tags: ['deploy'],
        summary: 'Accept a host as it stands: it stays on the air, and Drawbridge no longer manages it',
        body: RunRequestBody,
        response: {
          200: ReleasedBody,
          202: AcceptedBody,
          ...problems(...REFUSALS_TO_LEAVE),
        },
      },
    },
    async (request, reply) => {
      const { planId } = request.body
      const started = await exposer.accept(planId, request.caller, credentialsOf(request))
      return prefersAsync(request) ? accepted(reply, started) : reply.send(await releasedBody(started, request.caller))
    },
  )
}
