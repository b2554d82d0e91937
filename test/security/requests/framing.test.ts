import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawRequest, sendRaw } from '../../support/http/raw-socket.ts'
import { startService, type TestService } from '../../support/http/service.ts'

/** No page of ours can be framed, made to run somebody's script, or taken for another type; errors neither. */
let api: TestService

beforeAll(async () => {
  api = await startService()
})

afterAll(() => api.stop())

const answers: [string, string, number, Record<string, string>?][] = [
  ['GET', '/docs', 200],
  ['GET', '/docs/static/swagger-ui-bundle.js', 200],
  ['GET', '/api/openapi.json', 200],
  ['GET', '/api/policy', 200],
  ['GET', '/livez', 200],
  ['GET', '/', 200],
  ['GET', '/hosts/hello.lab.test', 200],
  ['GET', '/plan', 200],
  ['GET', '/plans', 200],
  ['GET', `/plans/plan_${'0'.repeat(26)}`, 200],
  ['GET', '/help', 200],
  ['GET', '/hosts', 404],
  ['GET', '/hosts/a/b', 404],
  ['GET', '/index.html', 404],
  ['GET', '/assets/nowhere.js', 404],
  ['GET', '/assets/..', 404],
  ['POST', '/plan', 405],
  ['GET', '/nowhere', 404],
  ['GET', '/docs/nowhere', 404],
  ['GET', '/docs/static/nowhere', 404],
  ['GET', '/docs/static/%2e%2e/package.json', 404],
  ['GET', '/%zz', 404],
  ['GET', `/api/deploy/plans/${'a'.repeat(500)}`, 404],
  ['DELETE', '/api/policy', 405],
  ['DELETE', '/docs', 404],
  ['POST', '/api/deploy/plan', 415],
  ['GET', '/api/policy', 421, { host: 'evil.test' }],
  ['GET', '/docs', 403, { origin: 'http://evil.test' }],
]

function expectGuarded(headers: Record<string, string | string[] | undefined>): void {
  const policy = new Map(
    String(headers['content-security-policy'])
      .split(';')
      .map((directive) => directive.trim().split(' ') as [string, ...string[]])
      .map(([name, ...sources]) => [name, sources] as const),
  )
  expect(policy.get('default-src')).toEqual(["'none'"])
  expect(policy.get('frame-ancestors')).toEqual(["'none'"])
  for (const sources of policy.values()) {
    expect(sources).not.toContain("'unsafe-inline'")
    expect(sources).not.toContain("'unsafe-eval'")
    expect(sources).not.toContain('*')
  }
  expect(headers['x-content-type-options']).toBe('nosniff')
}

const isPage = (path: string): boolean => /^\/($|hosts|plan|help)/.test(path)

describe('every answer is guarded', () => {
  test.each(answers)('%s %s (%i)', async (method, path, status, headers = {}) => {
    const answer = await api.call({ method, path, headers })
    expect(answer.status).toBe(status)
    expectGuarded(answer.headers)
    if (isPage(path) && status === 200) expect(answer.headers['cache-control']).toBe('no-cache')
    else if (!path.startsWith('/docs/static/')) expect(answer.headers['cache-control']).toBe('no-store')
    if (status >= 400) expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
  })

  test.each([
    ['what is not HTTP', 'NONSENSE\r\n\r\n'],
    ['an expectation we do not know', rawRequest('http://x', 'GET /api/policy HTTP/1.1', 'Expect: the-unexpected')],
  ])('%s', async (_name, bytes) => {
    const { text, body } = await sendRaw(api.origin, `${api.network}.10`, bytes.replace('Host: x', hostLine()))
    const headers = Object.fromEntries(
      [...text.matchAll(/^([a-z-]+): (.*)\r$/gim)].map(([, name = '', value]) => [name.toLowerCase(), value]),
    )
    expectGuarded(headers)
    expect(body?.code ?? body?.flow).toBeTypeOf('string')
  })

  const hostLine = () => `Host: ${new URL(api.origin).host}`
})

describe('our own pages', () => {
  test.each(['/docs', '/', '/hosts/hello.lab.test'])('%s has no script or style of its own inside', async (page) => {
    const { text } = await api.call({ path: page })
    for (const [tag, attributes, inner] of text.matchAll(/<(?:script|style)\b([^>]*)>([^<]*)/gi)) {
      expect({ tag, inner: inner?.trim() }).toEqual({ tag, inner: '' })
      expect(attributes).toMatch(/src="\.?\/?[\w./-]+"/)
    }
    expect(text).not.toMatch(/\son\w+=|javascript:|style="/i)
    expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//i)
  })

  test('what a page loads never changes and comes compressed', async () => {
    const { text } = await api.call({ path: '/' })
    const loaded = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
    expect(loaded.length).toBeGreaterThan(0)
    for (const path of loaded) {
      const { status, headers } = await api.call({ path, headers: { 'accept-encoding': 'gzip' } })
      expect(status).toBe(200)
      // The icon fits in a packet as it is.
      expect(headers['content-encoding']).toBe(path.endsWith('.svg') ? undefined : 'gzip')
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
      expectGuarded(headers)
    }
  })

  test.each([
    '//evil.test',
    '//evil.test/..',
    '/\\evil.test',
    '/docs//evil.test',
    '/?next=//evil.test',
    '/docs?url=//evil.test/x.json',
  ])('redirects nowhere but to itself: %s', async (path) => {
    const { headers } = await api.call({ path })
    expect(headers.location ?? '/docs').toMatch(/^\/docs(?:\/static\/index\.html|\/)?$/)
  })
})
