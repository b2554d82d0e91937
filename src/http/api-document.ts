import { ADMIN_TOKEN_HEADER } from '../authorize/admin-token.ts'
import { CAPABILITY_HEADER } from '../authorize/capability.ts'
import type { ErrorCode } from '../model/errors.ts'
import { DESCRIPTIONS } from './descriptions.ts'
import { ANSWERS } from './examples.ts'
import { CODES, problemMedia, wrongTypeResponse } from './problem-schema.ts'

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
