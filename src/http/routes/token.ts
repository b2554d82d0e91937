import { CAPABILITY_HEADER } from '../../authorize/credentials.ts'
import type { Exposer, Grant } from '../../usecases/exposer.ts'
import type { App } from '../app.ts'
import { credentialsOf } from '../guard/request-guard.ts'
import { CapabilityBody, TokenRequestBody } from '../schemas/capability-schemas.ts'
import { problems } from '../schemas/problem-schemas.ts'

export function tokenRoutes(app: App, exposer: Exposer): void {
  app.post(
    '/api/internal/token',
    {
      config: { guarded: 'token', audited: 'token' },
      schema: {
        operationId: 'issueCapability',
        tags: ['deploy'],
        summary: 'Issue a capability for one run of a plan (internal network only)',
        body: TokenRequestBody,
        response: {
          201: CapabilityBody,
          ...problems(
            'invalid_request',
            'payload_too_large',
            'internal_network_required',
            'admin_token_invalid',
            'plan_not_found',
            'plan_expired',
          ),
        },
      },
    },
    async (request, reply) => {
      const { planId, action = 'apply' } = request.body
      const grant = await exposer.grant(planId, action, request.caller, credentialsOf(request))
      return reply.code(201).send(capabilityBody(grant))
    },
  )
}

function capabilityBody({ capability, planId, action, ip, expiresAt }: Grant): CapabilityBody {
  return {
    capability,
    header: CAPABILITY_HEADER,
    planId,
    action,
    boundTo: { planId, action, ip },
    expiresAt: new Date(expiresAt).toISOString(),
    uses: 1,
  }
}
