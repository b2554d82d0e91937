import { ADMIN_TOKEN_HEADER, CAPABILITY_HEADER } from '../../authorize/credentials.ts'
import type { ErrorCode } from '../../model/errors.ts'
import { ANSWERS } from './examples.ts'
import { CODES, problemMedia, wrongTypeResponse } from './problem-schemas.ts'

type Json = Record<string, unknown>

/** The parts of the document that do not come from routes. */
export const DOCUMENT = {
  openapi: '3.1.0',
  servers: [{ url: '/', description: 'The service that this document was read from.' }],
  // Most routes need no credential. Those that do declare it.
  security: [],
  tags: [
    { name: 'policy', description: 'What this installation permits' },
    { name: 'deploy', description: 'Create a plan, get a capability, apply, repair or remove' },
    { name: 'status', description: 'The state of every host, and the cause of a problem' },
    { name: 'events', description: 'Events, audit and webhooks' },
    { name: 'system', description: 'Probes and metrics' },
  ],
  components: {
    securitySchemes: {
      capability: {
        type: 'apiKey' as const,
        in: 'header' as const,
        name: CAPABILITY_HEADER,
        description: 'A capability: permits one run of one plan. POST /api/internal/token issues it.',
      },
      adminToken: {
        type: 'apiKey' as const,
        in: 'header' as const,
        name: ADMIN_TOKEN_HEADER,
        description: 'The administrator token, if the policy accepts it.',
      },
    },
  },
}

/**
 * Adds descriptions, common parameters and examples to the operations, and moves every schema with a title to the
 * components.
 */
export function finishDocument(document: Json): Json {
  const paths = document.paths as Record<string, Record<string, Operation>>
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const schemas: Json = {}
  const responses: Json = { [WRONG_TYPE]: wrongTypeResponse() }
  for (const operation of operations) {
    addCommonParts(operation)
    addExamples(operation)
    hoistProblems(operation, responses)
  }
  const hoisted = hoist({ paths, responses }, schemas) as Json
  const components = { ...(document.components as Json), responses: hoisted.responses, schemas }
  return { ...document, paths: hoisted.paths, components }
}

const WRONG_TYPE = 'unsupported_media_type'

/** RFC 7240. Every operation that can answer 202 supports it. */
const PREFER = {
  in: 'header',
  name: 'Prefer',
  required: false,
  schema: { type: 'string', examples: ['respond-async'] },
  description: '`respond-async`: answer 202 as soon as the run has started. Other preferences are ignored.',
}

interface Operation {
  readonly operationId?: string
  description?: string
  parameters?: Json[]
  readonly requestBody?: unknown
  readonly responses?: Record<string, { readonly content?: Record<string, Json>; readonly $ref?: string }>
}

/** Adds the description, the 415 answer of operations with a body, and the Prefer header of asynchronous operations. */
function addCommonParts(operation: Operation): void {
  const { operationId = '', parameters = [], requestBody, responses = {} } = operation
  const description = DESCRIPTIONS[operationId]
  if (description !== undefined) operation.description = description
  if (requestBody) responses['415'] = { $ref: `#/components/responses/${WRONG_TYPE}` }
  if (responses['202']) operation.parameters = [...parameters, PREFER]
}

function addExamples({ operationId = '', responses = {} }: Operation): void {
  for (const [status, example] of Object.entries(ANSWERS[operationId] ?? {})) {
    for (const media of Object.values(responses[status]?.content ?? {})) media.example = example
  }
}

/** Moves the problem responses to the components. Routes with the same set of codes share one response. */
function hoistProblems({ responses = {} }: Operation, hoisted: Json): void {
  for (const [status, { content, ...response }] of Object.entries(responses)) {
    const schema = content?.['application/problem+json']?.schema as { [CODES]: ErrorCode[] } | undefined
    if (!schema) continue
    const codes = schema[CODES]
    const name = codes.join('.')
    hoisted[name] = { ...response, content: { 'application/problem+json': problemMedia(codes) } }
    responses[status] = { $ref: `#/components/responses/${name}` }
  }
}

/** The same value, with a reference in place of every schema that has a title. */
function hoist(value: unknown, schemas: Json): unknown {
  if (Array.isArray(value)) return value.map((item) => hoist(item, schemas))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, member]) => [
    key,
    key === 'example' || key === 'examples' ? member : hoist(member, schemas),
  ])
  const whole: Json = Object.fromEntries(members)
  if (typeof whole.title !== 'string' || !('type' in whole)) return whole
  const { title, ...schema } = whole
  const known = schemas[title]
  if (known && JSON.stringify(known) !== JSON.stringify(schema))
    throw new Error(`Two different schemas have the title ${title}.`)
  schemas[title] = schema
  return { $ref: `#/components/schemas/${title}` }
}

/** The description of each operation. A test checks that none is missing. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  getPolicy:
    'Returns the authorization flow, the permitted servers, zones and ports, the rate limits, and in `caller.may` the permissions of the calling address. Call it first.',
  createPlan:
    'Checks at the same time that the backend is healthy, that the DNS name is free, that HTTPS is possible and that the edge can serve the name. Returns the ordered changes of an apply and a digest of them. Nothing is changed. If a check fails, the plan is refused with the code of the first failed check and all `checks`, and is not stored.',
  getPlan:
    'Returns the plan as it was created, its current state, and every run with its steps. Callers on every network can read it. A malformed id answers `plan_not_found`.',
  getDrift:
    "Compares an applied plan with the Primary's files, the zone and the certificate that the Primary shows. Lists every difference with what was expected and found, never a line of a file. `overwrite` is true where a repair would overwrite a change that was made outside Drawbridge. Changes nothing.",
  listPlans:
    'Returns summaries of stored plans, newest first. Pass `nextCursor` as `cursor` to get the next page; it is null on the last page.',
  issueCapability:
    'Returns a capability that permits one run of this plan with this action, from the calling address, within five minutes. Send it in `x-deploy-capability`. The service stores only its hash and never shows it again.',
  applyPlan:
    'Repeats the checks of the plan, then changes certificate, proxy and DNS together and verifies the result on the Primary. If a step fails, all changes are rolled back, and `steps` and `rollback` describe it. Answers when the run has ended. A client that disconnects does not stop the run. With `Prefer: respond-async` it answers 202 at once.',
  removeExposure:
    'Removes the DNS records first and then the entry of the proxy, and only what the plan created. A file or record that was changed outside Drawbridge is not removed; the answer names it. Needs a capability for the action `remove`. With `Prefer: respond-async` it answers 202 at once.',
  repairExposure:
    'Writes certificate, proxy entry and DNS records of an applied plan again where they differ, and verifies the result on the Primary. Where that would overwrite a change that was made outside Drawbridge, it is refused with `changed_elsewhere`, unless `overwrite` is true; `GET /api/deploy/plans/{planId}/drift` shows the change first. If a step fails, everything is as it was before the repair. Needs a capability for the action `repair`. With `Prefer: respond-async` it answers 202 at once.',
  planAdoption:
    'Reads the hand-written site of the host on the Primary and plans an exposure with the same backend, TLS and options. The records of the name stay and are named in the plan. `adopt.enabled` must be true. The answer names directives, and neither files nor text of the site. Apply the plan with a capability for the action `adopt`.',
  releaseExposure:
    'Does what accept does, for a host that is as its plan says. A host that differs from its plan is refused with `changed_elsewhere`. Needs a capability for the action `release`. With `Prefer: respond-async` it answers 202 at once.',
  acceptExposure:
    'Leaves the records and the service of the host as they are and takes the exposure out of the books: the owner mark goes, the entry is written once as a file outside the folder of Drawbridge, and the plan is `released`. The host stays on the air. Nobody renews its certificate or removes it at its end any more. Needs a capability for the action `accept`. With `Prefer: respond-async` it answers 202 at once.',
  muteHost:
    'The host may be managed or not. It keeps its badge, and callers inside see `muted` in its row. Without `expiresIn` it is muted until somebody ends it, or its exposure is removed. A later mute replaces the earlier one. Internal network only; no capability is needed.',
  unmuteHost:
    'Repeatable: a host that is not muted is no error. A mute of the configuration can only be ended there. Internal network only; no capability is needed.',
  renewCertificate:
    'Uses a better certificate from the certificate folders, or orders a new one within the order budget, even if the renewal is not due. Answers when every host with the old certificate is served with the new one, or with `Prefer: respond-async` 202 at once.',
  extendExposure:
    'Sets a later end of an exposure, in seconds from now. An earlier end than the current one, or an end for a permanent exposure, is refused. Needs the same credentials as an apply. The service removes the exposure at its end.',
  followPlan:
    "Streams the events of the plan's newest run: first the past events, then each new event, until the event `end`. A client that resumes with `Last-Event-ID` misses none.",
  followEvents:
    'Streams every event of exposures, hosts and certificates. A client that resumes with `Last-Event-ID` or `after` gets the events that it missed. `type` and `host` accept comma-separated lists.',
  listEvents:
    'Returns the newest events, oldest first, at once. `before` turns the page; `type` and `host` accept comma-separated lists. One call looks at up to 10,000 events, so a page can be short or empty and still have `nextBefore`. `head` is the position from which `GET /api/events` goes on without a gap.',
  readAudit:
    'Returns who did what, when and with which outcome. Each line has the hash of the previous line, and `drawbridge audit verify` checks the chain. Without `after` it returns the newest lines.',
  listWebhooks:
    'Returns for each configured webhook the number of delivered, pending and abandoned events, the last failure, and the abandoned events (dead letters).',
  getHealth:
    'Returns the last result of the monitor: badge, last check, server and the path of the configuration file. The call sends no request to the host. A host that is not exposed answers `host_not_found` and can be planned.',
  listHosts:
    "Returns every host that the Primary's edge serves, created by Drawbridge or not, with the last result of the monitor. Supports filters, sorting and pages. Answers 304 when `If-None-Match` has the current `ETag`.",
  followHosts:
    'Streams an event `badge` with the row of each host whose badge changes, and an event `hosts` when hosts are added or removed. A client that resumes with `Last-Event-ID` misses none.',
  getHostHistory:
    'Returns the share of successful checks and the average latency of a host by hours (1 or 7 days) or by days (30 or 90). Hours are kept for 8 days, days for 91. The newest two minutes may be missing. Also returns the incidents in that time: when the host was not well, and with which badges, as far as events are kept.',
  followHostChanges:
    'Keeps a list that was loaded from `GET /api/hosts` up to date. `row` has the row of a host that is new or changed, `gone` the name of one that is no longer listed, and `alive` comes every 10 s. Internal callers also get `edges` and, when a plan or one of its runs changes, `plan`, and `event` with the position of the newest event. A latency is sent when it has changed much. After a disconnection load the list again.',
  diagnoseHost:
    'Inspects every link from the DNS name to the backend within five seconds, and names the first cause that explains what visitors experience, with advice. The answer never contains the content of a file or a log line. Names from outside, such as file names, are quoted if they are not plain.',
  getMetrics: 'Returns counters and gauges of hosts, plans, runs and certificates in the Prometheus exposition format.',
  isAlive: 'Answers 200 while the process can answer. Accepts any `Host` header and has no rate limit.',
  isReady:
    'Answers 200 when the service can handle requests: the store answers and no shutdown is in progress. Answers 503 otherwise. Accepts any `Host` header and has no rate limit.',
}
