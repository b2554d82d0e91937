import { createConfig, lintFromString } from '@redocly/openapi-core'
import { beforeAll, expect, test } from 'vitest'
import { apiDocument, documentText, readCommitted, typesText } from '../../../bin/openapi.ts'
import { ERRORS } from '../../../src/model/errors.ts'

type Document = Awaited<ReturnType<typeof apiDocument>>
let document: Document
beforeAll(async () => {
  document = await apiDocument()
})

const STALE = 'run: npm run openapi'

test('the committed document and the client are what the routes say now', async () => {
  const committed = readCommitted()
  expect(committed.document === documentText(document), `docs/openapi.json is stale; ${STALE}`).toBe(true)
  expect(committed.types === (await typesText(document)), `src/client/schema.ts is stale; ${STALE}`).toBe(true)
})

test('a strict public linter finds nothing, in the examples neither', async () => {
  // As text: the compiler would need seconds to compare an object with the type of all configurations.
  const config = await createConfig('{ extends: [recommended-strict], rules: { operation-description: error } }')
  const found = await lintFromString({ source: documentText(document), config })
  expect(found.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([])
})

test('every operation has a description that says more than its summary', () => {
  const bare = operations().filter(
    ({ operation: { summary = '', description = '' } }) => description.length <= summary.length,
  )
  expect(bare.map(({ where }) => where)).toEqual([])
})

test('every operation with a body documents 415, with the status in its example', () => {
  const taking = operations().filter(({ operation }) => operation.requestBody)
  expect(taking.length).toBeGreaterThanOrEqual(5)
  const bare = taking.filter(({ operation }) => !operation.responses?.['415'])
  expect(bare.map(({ where }) => where)).toEqual([])
  const shown = answers().filter(({ where }) => where.endsWith(' 415'))
  for (const { media } of shown)
    expect(media.examples).toMatchObject({ invalid_request: { value: { code: 'invalid_request', status: 415 } } })
})

test('every operation that can answer 202 has the parameter Prefer', () => {
  const unattended = operations().filter(({ operation }) => operation.responses?.['202'])
  const known = ['post /api/deploy/apply', 'post /api/deploy/remove']
  expect(unattended.map(({ where }) => where)).toEqual(expect.arrayContaining(known))
  for (const { where, operation } of unattended)
    expect(operation.parameters, where).toMatchObject([{ in: 'header', name: 'Prefer', required: false }])
})

test('the example of a digest is one', () => {
  const planned = answers().find(({ where }) => where === 'post /api/deploy/plan 201')
  expect(planned?.media.example).toMatchObject({ digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) })
})

test('every answer has an example', () => {
  const bare = answers().filter(({ media }) => !('example' in media) && !('examples' in media))
  expect(bare.map(({ where }) => where)).toEqual([])
})

test('every error code has an example somewhere', () => {
  const shown = new Set(answers().flatMap(({ media }) => Object.keys(media.examples ?? {})))
  // No route answers with these two: they are what is said where there is no route.
  const NOWHERE = ['not_found', 'method_not_allowed']
  expect(Object.keys(ERRORS).filter((code) => !shown.has(code) && !NOWHERE.includes(code))).toEqual([])
})

interface Media {
  readonly example?: unknown
  readonly examples?: Record<string, unknown>
}

interface Operation {
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly unknown[]
  readonly requestBody?: unknown
  readonly responses?: Record<string, unknown>
}

const operations = (): { where: string; operation: Operation }[] =>
  Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ where: `${method} ${path}`, operation })),
  )

/** Every body that a route can answer with, its references followed. */
function answers(): { where: string; media: Media }[] {
  const shared = (document.components?.responses ?? {}) as Record<string, { content?: Record<string, Media> }>
  return Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.entries(responses as Record<string, { $ref?: string; content?: Record<string, Media> }>).flatMap(
        ([status, response]) => {
          const { content = {} } = response.$ref ? (shared[response.$ref.split('/').at(-1) ?? ''] ?? {}) : response
          return Object.values(content).map((media) => ({ where: `${method} ${path} ${status}`, media }))
        },
      ),
    ),
  )
}
