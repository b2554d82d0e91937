import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { App } from '../app.ts'
import { DOCUMENT, finishDocument } from '../schemas/api-document.ts'

/** Must be registered before the routes it describes. */
export async function describeApi(app: App, version: string): Promise<void> {
  await app.register(swagger, {
    transformObject: (document) => finishDocument('openapiObject' in document ? { ...document.openapiObject } : {}),
    openapi: {
      ...DOCUMENT,
      info: {
        title: 'Drawbridge',
        version,
        description:
          'Puts a service on the air in two stages: a plan that only looks, and an apply that changes DNS, reverse proxy and certificate together or not at all.',
        contact: { name: 'The administrator of this installation' },
        license: { name: 'MIT', identifier: 'MIT' },
      },
    },
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Drawbridge API' },
    uiConfig: { layout: 'BaseLayout', defaultModelsExpandDepth: -1 },
  })
}

export function referenceRoutes(app: App): void {
  app.get('/api/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  app.get('/llms.txt', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(LLMS_TEXT),
  )
}

/** What an agent needs to know before its first call, on one screen. Every code named here is one of ours: a test holds it. */
export const LLMS_TEXT = `# Drawbridge

> Puts a backend on the air under a DNS name, with reverse proxy and HTTPS: all of it or nothing.
> First a plan that only looks, then an apply that makes exactly that plan real. All bodies are JSON.

## Order of calls
1. GET /api/policy: zones, servers, ports, and in caller.may what you may do from your address.
2. GET /api/health?host=NAME: how a host does. 404 host_not_found means that the name may be planned.
3. POST /api/deploy/plan {zone, subdomain, server, port, health, tls, expiresIn?}: changes nothing, gives planId and changes.
4. POST /api/internal/token {planId, action?: "apply"|"remove"|"renew"}: the one-time right, only inside the internal network.
5. POST /api/deploy/apply {planId} with the header x-deploy-capability.
6. POST /api/deploy/remove {planId} with a new right for "remove". POST /api/deploy/extend {planId, expiresIn} like apply;
   it never shortens.
   POST /api/deploy/renew {planId} with a right for "renew": a new certificate now. It is renewed in time without you.

## Rules
- A capability is good for one use, one plan, one action, one address and five minutes. Spend it at once. Never print,
  log, keep or pass it on. \`drawbridge mcp\` and \`drawbridge apply\` do so by themselves: prefer them.
- Outside the internal network you may read and plan, nothing else. No header changes that.
- The backend must answer HTTP 2xx on its health path before it can be planned, and again before it is applied.
- A name that has any DNS record is taken. Choose another one; never ask for records to be deleted to make room.
- Show a plan's changes to the person you work for before you apply it. Prefer expiresIn for what is only a trial.
- apply and remove answer when all is done (or send Prefer: respond-async and follow /api/deploy/plans/{planId}/events).
- After a lost connection look at GET /api/deploy/plans/{planId} before anything is tried again: a run goes on without you.

## Refusals
Every refusal is application/problem+json with code, detail, retryable and nextAction. Act on code; do what nextAction says;
repeat the same call only when retryable is true, after retryAfter seconds where it is given.
- Correct the request: invalid_request, server_not_allowed, zone_not_managed, port_not_allowed.
- The world says no: backend_unhealthy, dns_name_taken, dns_unavailable, certificate_unavailable, proxy_name_taken,
  proxy_config_broken.
- Not from here: internal_network_required, host_not_allowed, origin_not_allowed.
- Get a new right: capability_required, capability_invalid, capability_expired, capability_used.
- Look at the plan: plan_not_found, plan_expired, plan_not_applied, plan_already_applied, plan_busy, lease_not_longer.
- Plan again: plan_stale.
- Everything was put back: apply_failed, remove_failed, renew_failed. Read steps and detail; try again once.
- Stop and call a person: rollback_blocked. The host is frozen until \`drawbridge resolve\` on the server.
- Wait: rate_limited, unavailable.

## More
- GET /api/hosts: every host with its badge. GET /api/diagnose?host=NAME: link by link, one cause, advice.
- GET /api/openapi.json: everything, with examples. /docs: the same to read.
`
