import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Backend, startBackend } from '../../support/backends/backend.ts'
import { startZoneServer, type ZoneServer } from '../../support/dns/zone-server.ts'
import { startService, type TestService } from '../../support/http/service.ts'

let dns: ZoneServer
let api: TestService
let backend: Backend

beforeAll(async () => {
  dns = await startZoneServer([{ name: 'lab.test', records: [] }])
  api = await startService({ dns })
  backend = await startBackend(
    (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    `${api.network}.25`,
  )
})

afterAll(async () => {
  await api.stop()
  await backend[Symbol.asyncDispose]()
  await dns.stop()
})

const request = (overrides = {}) => ({
  zone: 'lab.test',
  subdomain: 'hello',
  server: '25',
  port: backend.port,
  health: '/healthz',
  tls: false,
  ...overrides,
})
const plan = (overrides = {}, from = 'inside') => api.call({ path: '/api/deploy/plan', body: request(overrides), from })

test('adopting is off by default', async () => {
  const { status, body } = await api.call({
    path: '/api/deploy/plan/adopt',
    body: { host: 'calm.lab.test', health: '/' },
  })
  expect([status, body.code]).toEqual([403, 'adopt_not_allowed'])
  expect(body.detail).toContain('adopt.enabled')
})

describe('GET /api/policy', () => {
  test('tells the rules, and what this caller may do', async () => {
    const inside = await api.call({ path: '/api/policy' })
    expect(inside.status).toBe(200)
    expect(inside.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
    })
    expect(inside.body).toMatchObject({
      flow: 'capability',
      servers: { targets: ['23', '25', '253'], primary: '23', secondary: '73' },
      zones: ['lab.test'],
      capability: {
        header: 'x-deploy-capability',
        ttlSeconds: 300,
        uses: 1,
        boundTo: ['plan', 'digest', 'ip', 'action'],
      },
      adminToken: { accepted: false, header: 'x-deploy-token' },
      plan: { ttlSeconds: 86_400 },
      ports: {
        allowed: [
          [80, 80],
          [443, 443],
          [1024, 65_535],
        ],
        denied: [8045, 8080, 8443],
      },
      conflictingRecordTypes: ['A', 'AAAA', 'CNAME', 'TXT', 'MX', 'SRV', 'CAA', 'NS', 'HTTPS', 'SVCB'],
      // Not `adopt`, which the configuration has to allow.
      caller: {
        network: 'internal',
        may: ['read', 'plan', 'token', 'apply', 'remove', 'repair', 'accept', 'renew', 'release'],
      },
    })
    expect(inside.body.callOrder).toHaveLength(6)
    const outside = await api.call({ path: '/api/policy', from: 'outside' })
    expect(outside.body.caller).toEqual({ network: 'public', may: ['read', 'plan'] })
  })
})

describe('POST /api/deploy/plan', () => {
  test('answers with a plan that can be read again', async () => {
    const made = await plan({ subdomain: 'HeLLo', expiresIn: 3600 }, 'outside')
    expect(made.status).toBe(201)
    expect(made.body.planId).toMatch(/^plan_[0-9a-z]{26}$/)
    expect(made.headers.location).toBe(`/api/deploy/plans/${made.body.planId}`)
    expect(made.body).toMatchObject({
      state: 'planned',
      host: 'hello.lab.test',
      url: 'http://hello.lab.test:8080/',
      request: { ...request({ expiresIn: 3600 }) },
      checks: [
        { name: 'health', status: 'passed', httpStatus: 200 },
        { name: 'dns', status: 'passed' },
        { name: 'certificate', status: 'not_required' },
        { name: 'proxy', status: 'warning', by: 'preparation' },
      ],
      changes: [
        { kind: 'proxy' },
        { kind: 'dns', name: 'hello.lab.test', type: 'A', value: `${api.network}.23` },
        { kind: 'dns', name: '_drawbridge.hello.lab.test', type: 'TXT' },
      ],
    })
    expect(Date.parse(made.body.expiresAt) - Date.parse(made.body.createdAt)).toBe(86_400_000)
    const read = await api.call({ path: `/api/deploy/plans/${made.body.planId}`, from: 'outside' })
    expect(read.body).toEqual(made.body)
  })

  test('a plan reserves nothing', async () => {
    expect((await plan()).status).toBe(201)
    expect((await plan()).status).toBe(201)
  })

  test.each([
    [{ server: '24' }, 422, 'server_not_allowed'],
    [{ zone: 'other.test' }, 422, 'zone_not_managed'],
    [{ port: 22 }, 422, 'port_not_allowed'],
    [{ port: 1 }, 422, 'port_not_allowed'],
    [{ subdomain: 'ns1' }, 409, 'dns_name_taken'],
    [{ port: 9999 }, 422, 'backend_unhealthy'],
    [{ tls: true }, 422, 'certificate_unavailable'],
  ])('%j is refused with %i %s and stores nothing', async (overrides, status, code) => {
    const refused = await plan(overrides)
    expect([refused.status, refused.body.code]).toEqual([status, code])
    expect(refused.headers['content-type']).toBe('application/problem+json; charset=utf-8')
    expect(refused.body).toMatchObject({
      title: expect.any(String),
      detail: expect.any(String),
      nextAction: expect.any(String),
      retryable: expect.any(Boolean),
      requestId: refused.headers['x-request-id'],
    })
    expect(refused.text).not.toContain('plan_')
  })

  test('a refused plan shows all four checks', async () => {
    const { body } = await plan({ subdomain: 'ns1', port: 9999 })
    expect(body.code).toBe('backend_unhealthy')
    expect(body.checks).toMatchObject([
      { name: 'health', status: 'failed', reason: 'refused' },
      { name: 'dns', status: 'failed', types: ['A'] },
      { name: 'certificate' },
      { name: 'proxy', status: 'warning', by: 'preparation' },
    ])
  })
})

describe('POST /api/internal/token', () => {
  test('issues a capability inside, shown once, stored as a hash', async () => {
    const { body: made } = await plan()
    for (const action of ['apply', 'remove'] as const) {
      const { status, body } = await api.call({ path: '/api/internal/token', body: { planId: made.planId, action } })
      expect(status).toBe(201)
      expect(body).toMatchObject({
        header: 'x-deploy-capability',
        planId: made.planId,
        action,
        uses: 1,
        boundTo: { planId: made.planId, action, ip: `${api.network}.10` },
      })
      expect(body.capability).toMatch(/^cap_[A-Za-z0-9_-]{43}$/)
      expect(Date.parse(body.expiresAt) - Date.now()).toBeGreaterThan(299_000)
      expect(api.log()).not.toContain(body.capability)
    }
  })

  test('means apply when nothing is said', async () => {
    const { body: made } = await plan()
    const { body } = await api.call({ path: '/api/internal/token', body: { planId: made.planId } })
    expect(body.action).toBe('apply')
  })

  test.each([
    [{ planId: 'plan_00000000000000000000000000' }, 404, 'plan_not_found'],
    [{ planId: '../../etc/passwd' }, 404, 'plan_not_found'],
    [{ planId: 7 }, 400, 'invalid_request'],
    [{ planId: 'plan_00000000000000000000000000', action: 'extend' }, 400, 'invalid_request'],
    [{}, 400, 'invalid_request'],
  ])('%j is %i %s', async (body, status, code) => {
    const refused = await api.call({ path: '/api/internal/token', body })
    expect([refused.status, refused.body.code]).toEqual([status, code])
  })

  test('outside it is refused before the body is looked at', async () => {
    const refused = await api.call({ path: '/api/internal/token', body: 'not json', from: 'outside' })
    expect([refused.status, refused.body.code]).toEqual([403, 'internal_network_required'])
  })
})

describe('the rest', () => {
  test('livez and readyz answer under any Host', async () => {
    for (const path of ['/livez', '/readyz']) {
      const { status, body } = await api.call({ path, headers: { host: 'whatever.test' } })
      expect([status, body]).toEqual([200, { status: 'ok' }])
    }
  })

  test('the OpenAPI document is 3.1 and has a route with its problems', async () => {
    const { body } = await api.call({ path: '/api/openapi.json' })
    expect(body.openapi).toBe('3.1.0')
    const { responses, requestBody } = body.paths['/api/deploy/plan'].post
    expect(Object.keys(responses)).toEqual([
      '201',
      '400',
      '403',
      '404',
      '409',
      '413',
      '415',
      '421',
      '422',
      '429',
      '500',
      '503',
    ])
    expect(responses['409']).toEqual({
      $ref: '#/components/responses/dns_name_taken.proxy_name_taken.proxy_config_broken.plan_not_applied.plan_stale.lease_not_longer',
    })
    expect(requestBody.content['application/json'].schema).toEqual({ $ref: '#/components/schemas/ExposureRequest' })
    expect(body.components.schemas.ExposureRequest.additionalProperties).toBe(false)
  })

  test('the reference is served', async () => {
    const docs = await api.call({ path: '/docs' })
    expect(docs.status).toBe(200)
    expect(docs.text).toContain('swagger-ui')
  })

  test.each([
    ['GET', '/nowhere', 404, 'not_found'],
    ['DELETE', '/api/policy', 405, 'method_not_allowed'],
    ['GET', '/api/deploy/plan', 405, 'method_not_allowed'],
    ['OPTIONS', '/api/internal/token', 405, 'method_not_allowed'],
  ])('%s %s is %i %s', async (method, path, status, code) => {
    const { status: got, body, headers } = await api.call({ method, path })
    expect([got, body.code]).toEqual([status, code])
    if (status === 405) expect(headers.allow).toMatch(/GET|POST/)
  })

  test('every request has one log line with the id of its answer', async () => {
    const { headers } = await api.call({ path: '/api/policy?secret=1' })
    const lines = api
      .log()
      .split('\n')
      .filter((line) => line.includes(String(headers['x-request-id'])))
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      method: 'GET',
      path: '/api/policy',
      status: 200,
      network: 'internal',
    })
  })
})

describe('GET /api/deploy/plans', () => {
  test('lists plans to callers inside, newest first, page by page', async () => {
    const made: string[] = []
    for (const subdomain of ['first', 'second', 'third']) made.unshift((await plan({ subdomain })).body.planId)
    const page = await api.call({ path: '/api/deploy/plans?limit=2' })
    expect(page.status).toBe(200)
    expect(page.body.plans.map(({ planId }: { planId: string }) => planId)).toEqual(made.slice(0, 2))
    expect(page.body.plans[0]).toMatchObject({
      state: 'planned',
      host: 'third.lab.test',
      createdBy: `${api.network}.10`,
      request: { server: '25' },
    })
    const next = await api.call({ path: `/api/deploy/plans?limit=1&cursor=${page.body.nextCursor}` })
    expect(next.body.plans[0].planId).toBe(made[2])
  })

  test('is closed to the public, and takes no nonsense', async () => {
    const outside = await api.call({ path: '/api/deploy/plans', from: 'outside' })
    expect([outside.status, outside.body.code]).toEqual([403, 'internal_network_required'])
    for (const query of ['limit=0', 'limit=201', 'cursor=x', 'other=1']) {
      expect((await api.call({ path: `/api/deploy/plans?${query}` })).body.code).toBe('invalid_request')
    }
  })

  test('who made a plan is told inside only', async () => {
    const { planId } = (await plan({ subdomain: 'whose' })).body
    const seen = async (from: string) => (await api.call({ path: `/api/deploy/plans/${planId}`, from })).body
    expect(await seen('inside')).toMatchObject({ createdBy: `${api.network}.10` })
    expect(await seen('outside')).not.toHaveProperty('createdBy')
  })
})
