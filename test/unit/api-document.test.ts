import { createConfig, lintFromString } from '@redocly/openapi-core'
import { beforeAll, expect, test } from 'vitest'
import { apiDocument, documentText, readCommitted, typesText } from '../../bin/openapi.ts'
import { ERRORS } from '../../src/model/errors.ts'

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
  const config = await createConfig({ extends: ['recommended-strict'] })
  const found = await lintFromString({ source: documentText(document), config })
  expect(found.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([])
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
