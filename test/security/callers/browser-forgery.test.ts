import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Site, startSite } from '../../support/http/site.ts'
import { stored } from '../../support/http/stored.ts'

/** A web page makes the browser of somebody inside send requests. None of them may do anything. */
let site: Site
let planId: string
let before: ReturnType<typeof stored>

beforeAll(async () => {
  site = await startSite({ settings: 'publicUrls: [http://drawbridge.test:8045]' })
  planId = await site.planId()
  before = stored(site.api)
})

afterAll(async () => {
  await site.stop()
})

const targets = () =>
  [
    ['/api/deploy/plan', site.request()],
    ['/api/internal/token', { planId }],
  ] as const

async function forge(headers: Record<string, string>, encode: (body: object) => string = JSON.stringify) {
  const answers = []
  for (const [path, body] of targets()) answers.push(await site.api.call({ path, body: encode(body), headers }))
  return answers
}

describe('a body that is not sent as JSON', () => {
  const boundary = 'x'
  const multipart = (body: object) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="body"\r\n\r\n${JSON.stringify(body)}\r\n--${boundary}--\r\n`

  test.each<[string, Record<string, string>, ((body: object) => string)?]>([
    ['text/plain', { 'content-type': 'text/plain' }],
    ['text/plain with a charset', { 'content-type': 'text/plain;charset=UTF-8' }],
    ['no content type', {}],
    ['an empty content type', { 'content-type': '' }],
    [
      'a form',
      { 'content-type': 'application/x-www-form-urlencoded' },
      (body) =>
        Object.entries(body)
          .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
          .join('&'),
    ],
    ['JSON in a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['multipart', { 'content-type': `multipart/form-data; boundary=${boundary}` }, multipart],
    ['another kind of JSON', { 'content-type': 'application/vnd.api+json' }],
    ['JSON for patching', { 'content-type': 'application/merge-patch+json' }],
    ['text/json', { 'content-type': 'text/json' }],
    ['JSON in another charset', { 'content-type': 'application/json; charset=utf-16' }],
    ['JSON in Latin-1', { 'content-type': 'application/json; charset=iso-8859-1' }],
    ['JSON with a strange parameter', { 'content-type': 'application/json; boundary=x' }],
    ['a type that begins like JSON', { 'content-type': 'application/jsonp' }],
    ['a list of types', { 'content-type': 'text/plain, application/json' }],
    ['a list of types, JSON first', { 'content-type': 'application/json, text/plain' }],
    ['a parameter that says JSON', { 'content-type': 'text/plain; application/json' }],
  ])('%s is refused', async (_name, headers, encode) => {
    for (const { status, body } of await forge(headers, encode)) {
      expect([status, body.code]).toEqual([415, 'invalid_request'])
      expect(body.errors).toMatchObject([{ field: 'content-type' }])
    }
    expect(stored(site.api)).toEqual(before)
  })
})

describe('a page of somebody else', () => {
  test.each([
    'http://evil.test',
    'null',
    'https://drawbridge.test:8045',
    'http://drawbridge.test',
    'http://drawbridge.test:8045.evil.test',
    'http://evil.test/http://drawbridge.test:8045',
    '',
    'file://',
  ])('is refused by its Origin %j', async (origin) => {
    for (const { status, body } of await forge({ 'content-type': 'application/json', origin })) {
      expect([status, body.code]).toEqual([403, 'origin_not_allowed'])
    }
    expect(stored(site.api)).toEqual(before)
  })

  test.each(['/api/policy', '/api/openapi.json', '/docs'])('may not even read %s', async (path) => {
    const { status, body } = await site.api.call({ path, headers: { origin: 'http://evil.test' } })
    expect([status, body.code]).toEqual([403, 'origin_not_allowed'])
  })
})

describe('no answer lets another origin in', () => {
  const preflight = {
    origin: 'http://evil.test',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type,x-deploy-capability',
    'access-control-request-private-network': 'true',
  }
  const ours = { ...preflight, origin: 'http://drawbridge.test:8045' }

  test.each(['/api/policy', '/api/deploy/plan', '/api/internal/token', '/livez', '/readyz', '/docs', '/', '/nowhere'])(
    '%s',
    async (path) => {
      for (const method of ['OPTIONS', 'GET', 'POST']) {
        for (const headers of [{}, preflight, ours]) {
          const answer = await site.api.call({ path, method, headers })
          expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
          if (method === 'OPTIONS') expect(answer.status).toBeGreaterThanOrEqual(400)
        }
      }
    },
  )
})

describe('our own page', () => {
  test('and clients without an Origin are let in', async () => {
    for (const origin of ['http://drawbridge.test:8045', site.api.origin, undefined]) {
      const headers = { 'content-type': 'application/json; charset=UTF-8', ...(origin && { origin }) }
      const [plan, token] = await forge(headers)
      expect([plan?.status, token?.status]).toEqual([201, 201])
    }
  })
})
