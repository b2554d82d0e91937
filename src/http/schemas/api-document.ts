import { ADMIN_TOKEN_HEADER, CAPABILITY_HEADER } from '../../authorize/credentials.ts'
import type { ErrorCode } from '../../model/errors.ts'
import { ANSWERS } from './examples.ts'
import { CODES, problemMedia, wrongTypeResponse } from './schema-parts.ts'

type Json = Record<string, unknown>

/** What stands in the document beside the routes. */
export const DOCUMENT = {
  openapi: '3.1.0',
  servers: [{ url: '/', description: 'The service that this document was read from.' }],
  // Most routes are open to whoever may reach them; those that need more say so.
  security: [],
  tags: [
    { name: 'policy', description: 'What is allowed here' },
    { name: 'deploy', description: 'Plan, get the right to act, act' },
    { name: 'status', description: 'How every host does, and why' },
    { name: 'events', description: 'What happened and what happens' },
    { name: 'system', description: 'For whatever watches the machine' },
  ],
  components: {
    securitySchemes: {
      capability: {
        type: 'apiKey' as const,
        in: 'header' as const,
        name: CAPABILITY_HEADER,
        description: 'The one-time right to run one plan once, from POST /api/internal/token.',
      },
      adminToken: {
        type: 'apiKey' as const,
        in: 'header' as const,
        name: ADMIN_TOKEN_HEADER,
        description: 'The administrator token, where the policy accepts it.',
      },
    },
  },
}

/**
 * Gives every operation its description and what all of its kind have in common, every answer its example, and every schema
 * that has a title its one place among the components.
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

/** RFC 7240. Every operation that can answer 202 heeds it. */
const PREFER = {
  in: 'header',
  name: 'Prefer',
  required: false,
  schema: { type: 'string', examples: ['respond-async'] },
  description: '`respond-async`: answer 202 as soon as the run has begun. Other preferences are ignored.',
}

interface Operation {
  readonly operationId?: string
  description?: string
  parameters?: Json[]
  readonly requestBody?: unknown
  readonly responses?: Record<string, { readonly content?: Record<string, Json>; readonly $ref?: string }>
}

/** Every body must be JSON, whatever the operation does with it. */
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

/** Most routes share most of their problems: each set of codes stands once, called by its codes. */
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
  if (known && JSON.stringify(known) !== JSON.stringify(schema)) throw new Error(`two schemas are called ${title}`)
  schemas[title] = schema
  return { $ref: `#/components/schemas/${title}` }
}

/** What the reference says of each operation beyond its summary. A test holds that none is missing. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  getPolicy:
    'Which flow is in force, which servers, zones and ports may be used, how much may be asked per minute, and in `caller.may` what the calling address may do. Call it first.',
  createPlan:
    'Checks at the same time that the backend is healthy, that the DNS name is free and that HTTPS can be had. Answers with the ordered changes that an apply would make, and a digest of them. No system is changed. A plan whose check fails is refused with the code of the first failing check and all `checks`, and is not stored.',
  getPlan:
    'The plan as it was made, its state now, and every run of it with its steps. Works for callers on every network. A malformed id is not found, too.',
  listPlans:
    'Summaries of stored plans, newest first. Pass `nextCursor` as `cursor` to get the next page; it is null on the last one.',
  issueCapability:
    'Answers with a capability: the right to run this plan once, for this action, from the calling address, within five minutes. Send it in `x-deploy-capability`. It is stored as a hash only and never shown again.',
  applyPlan:
    'Looks again at what the plan saw, then changes certificate, proxy and DNS together and verifies the result on the Primary. When a step fails, everything is put back and `steps` and `rollback` say how. Answers when all is done; a client that hangs up does not stop the run. With `Prefer: respond-async` it answers 202 at once.',
  removeExposure:
    'Withdraws the DNS records first and then the entry of the proxy, and only what the plan made. Something that was changed elsewhere is left alone and named. Needs a capability for the action `remove`. With `Prefer: respond-async` it answers 202 at once.',
  renewCertificate:
    'Serves a better certificate from the folders, or orders one within the order budget, due or not. Answers when every host that had the former certificate is served with the new one.',
  extendExposure:
    'Sets a later end of an exposure, in seconds from now. An end that would come sooner than the present one, or that a permanent exposure does not have, is refused. Needs the same right as an apply. An exposure that has an end removes itself at that time.',
  followPlan:
    "The events of the plan's newest run: first those that happened, then each as it happens, until the event `end`. A client that comes back with `Last-Event-ID` misses none.",
  followEvents:
    'Every event of exposures, hosts and certificates, as it happens. A client that comes back with `Last-Event-ID`, or passes `after`, gets the events that it missed. `type` and `host` take lists with commas.',
  readAudit:
    'Who did what, when, with which outcome. Each line holds the hash of the line before, and `drawbridge audit verify` checks the chain. Without `after` the newest lines are told.',
  listWebhooks:
    'For each configured webhook: how many events were delivered, wait or were given up, the last fault, and the events that were given up (dead letters).',
  getHealth:
    'What the monitor saw of the host last: badge, last check, server and the path of its configuration file. Nothing is asked of the host for this call. A host that is not exposed is `host_not_found` and may be planned.',
  listHosts:
    "Every host that the Primary's edge serves, made here or not, as the monitor saw it last; with filters, order and pages. Answers 304 when `If-None-Match` holds the current `ETag`.",
  followHosts:
    'An event `badge` with the row of each host whose badge changes, and an event `hosts` when hosts come or go. A client that comes back with `Last-Event-ID` misses none.',
  diagnoseHost:
    "Looks now, within five seconds, at every link from the DNS name to the backend, and names the first cause that explains what visitors meet, with advice. Never tells the content of a file or a log line. Names that others chose, such as a file's, are quoted unless they are plain.",
  getMetrics: 'Counters and gauges of hosts, plans, runs and certificates in the exposition format of Prometheus.',
  isAlive: 'Answers 200 while the process can answer at all. It is asked under any `Host` and costs no budget.',
  isReady:
    'Answers 200 when requests can be served: the store answers and no shutdown is under way; 503 otherwise. It is asked under any `Host` and costs no budget.',
}
