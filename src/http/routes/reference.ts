import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { App } from '../app.ts'
import { DOCUMENT, finishDocument } from '../schemas/api-document.ts'

/** Call it before the routes that the document describes. */
export async function registerApiDocument(app: App, version: string): Promise<void> {
  await app.register(swagger, {
    transformObject: (document) => finishDocument('openapiObject' in document ? { ...document.openapiObject } : {}),
    openapi: {
      ...DOCUMENT,
      info: {
        title: 'Drawbridge',
        version,
        description:
          'Exposes a service under a DNS name in two stages: a plan that changes nothing, and an apply that changes DNS, reverse proxy and certificate together or not at all.',
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

/** The instructions for agents. A test checks that every error code in it exists. */
export const LLMS_TEXT = `# Drawbridge

> Exposes a backend under a DNS name, with reverse proxy and HTTPS: all of it or nothing.
> First create a plan, which changes nothing. Then apply exactly that plan. All bodies are JSON.

## Order of calls
1. GET /api/policy: zones, servers, ports, and in caller.may what you may do from your address.
2. GET /api/health?host=NAME: the state of a host. 404 host_not_found means that the name is not exposed and can be planned.
3. POST /api/deploy/plan {zone, subdomain, server, port, health, tls, expiresIn?, replaces?, owner?, note?}: changes nothing,
   returns planId, changes and steps in order. replaces: the planId of your applied exposure of the same name, to change it;
   replaces, owner and note are only for the internal network. In GET /api/deploy/plans createdBy and network tell who made a plan.
4. POST /api/internal/token {planId, action?}: returns a capability for the action (default apply), only on the internal network.
5. POST /api/deploy/apply {planId} with the header x-deploy-capability.
6. POST /api/deploy/remove {planId} with a new capability for "remove". POST /api/deploy/extend {planId, expiresIn} with a
   new capability for "apply": only for an applied plan that has an end, and expiresIn must end later than expiresAt. It never shortens.
   POST /api/deploy/renew {planId} with a capability for "renew": a new certificate now. The service also renews
   certificates automatically before they expire.
7. If a host is DRIFT, NO DNS or CERT, GET /api/diagnose?host=NAME names in cause.acts what helps.
   GET /api/deploy/plans/{planId}/drift lists what differs. POST /api/deploy/repair {planId, overwrite?} with a capability for
   "repair" writes the exposure again as it was applied. POST /api/deploy/accept {planId} with a capability for "accept"
   leaves the host as it stands and stops managing it; release does so only if nothing differs. file tells where its entry is then.
8. If caller.may has "adopt", a host that is in nginx by hand (managed: false): POST /api/deploy/plan/adopt {host, health?,
   acceptLoss?}, then apply with a capability for "adopt". Ask your user before acceptLoss: true, which discards directives.

## Units and limits
- expiresIn is in seconds, 300 to 2592000 (30 days): of a plan counted from the apply, of extend from now. retryAfter is in seconds.
- Members that end with Ms, and ms of a step, are milliseconds. Times are ISO 8601 in UTC. uptime24h is a part of 1.
- A body has at most 16 KiB, owner 64 and note 200 characters. A page has at most 500 hosts or 200 plans; pass nextCursor as cursor.
- A plan can be applied until its expiresAt, plan.ttlSeconds after it was made. Requests are limited by rateLimits of the policy.

## Rules
- A capability is valid for one use, one plan, one action, one address and five minutes. Use it at once. Never print, log,
  store or share it. \`drawbridge mcp\` and \`drawbridge apply\` handle capabilities for you: prefer them.
- Outside the internal network you can read and plan only. No header changes that.
- The backend must answer HTTP 2xx on its health path before it can be planned, and again before it is applied.
- A name that has any DNS record is taken, and so is one that is exposed. Choose another name, or change your own
  exposure with replaces; never ask anybody to delete records for it.
- Show a plan's changes to your user before you apply it. Use expiresIn for a trial.
- Ask your user before you send overwrite: true, which discards what somebody else changed, and before you accept.
- apply, remove, repair and accept answer when the run has ended (or send Prefer: respond-async and follow
  /api/deploy/plans/{planId}/events).
- After a lost connection read GET /api/deploy/plans/{planId} before you try again: a run continues without its caller.

## Refusals
Every refusal is application/problem+json with code, detail, retryable and nextAction. Act on code; do what nextAction says;
repeat the same call only when retryable is true, after retryAfter seconds if given.
- Correct the request: invalid_request, server_not_allowed, zone_not_managed, port_not_allowed, dns_name_taken.
- Fix the backend, DNS, certificate or edge: backend_unhealthy, dns_unavailable, certificate_unavailable, proxy_name_taken,
  proxy_config_broken.
- Wrong network or address: internal_network_required, host_not_allowed, origin_not_allowed.
- Get a new capability: capability_required, capability_invalid, capability_expired, capability_used.
- Read the plan: plan_not_found, plan_expired, plan_not_applied, plan_already_applied, lease_not_longer.
- Plan again: plan_stale. Ask a person: changed_elsewhere, adopt_not_allowed, site_not_adoptable, loss_not_accepted.
- Rolled back: apply_failed, remove_failed, repair_failed, accept_failed, renew_failed. Read steps and detail; try again once.
- Stop and ask a person: rollback_blocked. The host is blocked until \`drawbridge resolve\` runs on the server.
- Wait: rate_limited, unavailable, plan_busy (holder.planId is the plan of the other run).

## More
- GET /api/hosts: every host with its badge. GET /api/diagnose?host=NAME: the state of every link, one cause, advice.
- GET /api/openapi.json: the whole API, with examples. /docs: the same for people.
`
