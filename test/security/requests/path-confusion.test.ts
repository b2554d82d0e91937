import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawRequest, sendRaw } from '../../support/http/raw-socket.ts'
import { type Site, startSite } from '../../support/http/site.ts'
import { stored } from '../../support/http/stored.ts'

/** Every address has one spelling. A second one leads nowhere, so no proxy's rule can be walked around with it. */
let site: Site
let planId: string

beforeAll(async () => {
  site = await startSite()
  planId = await site.planId()
})

afterAll(async () => {
  expect(stored(site.api).capabilities).toBe(0)
  await site.stop()
})

/** From inside, with a body that would be right: only the spelling is wrong. */
function post(path: string, from: string, method = 'POST', ...headers: string[]) {
  const body = JSON.stringify({ planId })
  const typed = ['Content-Type: application/json', `Content-Length: ${body.length}`]
  const { origin } = site.api
  return sendRaw(origin, from, rawRequest(origin, `${method} ${path} HTTP/1.1`, ...headers, ...typed) + body)
}

describe('another spelling of /api/internal/token', () => {
  test.each([
    '//api/internal/token',
    '/api//internal/token',
    '/api/internal/token/',
    '/api/internal/token//',
    '/api/internal/token;x',
    '/api/internal/token;x=1',
    '/api/internal;/token',
    '/api/internal/%74oken',
    '/%61pi/internal/token',
    '/api%2finternal%2ftoken',
    '/api/internal/token%00',
    '/api/internal/token%20',
    '/api/internal/token%3f',
    '/api/internal/token%zz',
    '/api/internal/token%',
    '/api/internal/token.json',
    '/api/internal/token*',
    '/api/internal/./token',
    '/./api/internal/token',
    '/api/policy/../internal/token',
    '/api/policy/..;/internal/token',
    '/api/%2e%2e/api/internal/token',
    '/api/%2e/internal/token',
    '/api\\internal\\token',
    '/API/internal/token',
    '/api/internal/TOKEN',
    '/Api/Internal/Token',
    '/api/internal/token#x',
    '/api/internal/tok\u0435n',
    'api/internal/token',
    '*',
    'http://127.0.0.1/api/internal/token',
  ])('%s leads nowhere, inside and outside', async (path) => {
    for (const from of [`${site.api.network}.10`, '127.0.0.1']) {
      const { statuses, body } = await post(path, from)
      const refused = [statuses[0], body?.code]
      expect([
        [404, 'not_found'],
        [400, 'invalid_request'],
      ]).toContainEqual(refused)
    }
  })

  test('a query changes nothing about who may call', async () => {
    const { statuses, body } = await post('/api/internal/token?x=/livez', '127.0.0.1')
    expect([statuses, body.code]).toEqual([[403], 'internal_network_required'])
  })
})

describe('another method', () => {
  test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])('%s is not taken', async (method) => {
    for (const from of [`${site.api.network}.10`, '127.0.0.1']) {
      const { statuses, text } = await post('/api/internal/token', from, method)
      expect(statuses).toEqual([405])
      expect(text).toMatch(/^allow: POST\r$/im)
      expect(text).not.toContain(planId)
    }
  })

  test.each(['CONNECT', 'PROPFIND', 'QUERY', 'PURGE', 'SEARCH'])('%s is refused', async (method) => {
    const { statuses, closed } = await post('/api/internal/token', `${site.api.network}.10`, method)
    expect(statuses.every((status) => status === 404 || status === 405 || status === 400)).toBe(true)
    expect(closed).toBe(true)
  })

  test.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', '_method'])(
    '%s does not turn one into another',
    async (header) => {
      const inside = `${site.api.network}.10`
      expect((await post('/api/internal/token', inside, 'GET', `${header}: POST`)).statuses).toEqual([405])
      expect((await post('/api/internal/token?_method=POST', inside, 'GET', `${header}: POST`)).statuses).toEqual([405])
      expect((await post('/api/policy', inside, 'POST', `${header}: GET`)).statuses).toEqual([405])
      expect((await post('/api/internal/token', '127.0.0.1', 'POST', `${header}: GET`)).statuses).toEqual([403])
    },
  )

  test.each(['X-Original-URL', 'X-Rewrite-URL', 'X-Forwarded-Prefix', 'X-Forwarded-Uri'])(
    '%s does not turn one address into another',
    async (header) => {
      const { statuses } = await post('/api/policy', '127.0.0.1', 'POST', `${header}: /api/internal/token`)
      expect(statuses).toEqual([405])
    },
  )
})

describe('a plan that is asked for', () => {
  test.each(['%2e%2e%2fpolicy', '..', '.', `${'a'.repeat(101)}`, 'x'.repeat(4_000), 'plan_%00', 'PLAN_X', '~'])(
    'by %s is not found',
    async (id) => {
      const { status, body } = await site.api.call({ path: `/api/deploy/plans/${id}` })
      expect(status).toBe(404)
      expect(['plan_not_found', 'not_found']).toContain(body.code)
    },
  )

  test('by an id of any length is judged in the same order, in a path and in a body', async () => {
    const id = `plan_${'0'.repeat(200)}`
    const path = `/api/deploy/plans/${id}`
    expect((await site.api.call({ path })).body.code).toBe('plan_not_found')
    expect((await site.api.call({ path, headers: { host: 'evil.test' } })).body.code).toBe('host_not_allowed')
    for (const action of ['apply', 'remove', 'repair']) {
      const { body } = await site.api.call({ path: `/api/deploy/${action}`, body: { planId: id } })
      expect([action, body.code]).toEqual([action, 'plan_not_found'])
    }
    expect((await site.plan({ replaces: id })).body.code).toBe('plan_not_found')
    const host = `${'a'.repeat(60)}.${'b'.repeat(60)}.lab.test`
    const muted = await site.api.call({ path: `/api/hosts/${host}/mute`, body: { expiresIn: 600 } })
    expect(muted.body.code).toBe('host_not_found')
  })

  test('by its id in upper case is not found', async () => {
    const { status } = await site.api.call({ path: `/api/deploy/plans/${planId.toUpperCase()}` })
    expect(status).toBe(404)
  })
})
