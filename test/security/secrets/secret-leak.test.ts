import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../support/http/call.ts'
import { type GuardedRuns, guardedRuns } from '../../support/http/guarded-run.ts'
import { rawRequest, sendRaw } from '../../support/http/raw-socket.ts'
import { startService, type TestService } from '../../support/http/service.ts'
import { type Site, startSite } from '../../support/http/site.ts'
import { storedBytes } from '../../support/http/stored.ts'

/** Canaries sent down every path that fails: none may turn up in a log, in the store, in the audit or in an answer. */
const adminToken = `canary-${randomBytes(16).toString('hex')}`
type Request = Parameters<TestService['call']>[0]
let site: Site
let runs: GuardedRuns
let planId: string
const issued: string[] = []
const answers: string[] = []

beforeAll(async () => {
  runs = guardedRuns()
  site = await startSite({
    environment: { DRAWBRIDGE_ADMIN_TOKEN: adminToken },
    settings: 'adminToken: internal\nflow: capability\nlog: { level: trace }',
    mount: (service) => {
      runs.mount(service)
      service.app.get('/test/throw', async ({ headers }) => {
        const secrets = `${headers['x-deploy-capability']} ${headers['x-deploy-token']}`
        throw Object.assign(new Error(`broke on ${secrets}`, { cause: new Error(secrets) }), {
          at: { depth: [secrets] },
        })
      })
    },
  })
  planId = await site.planId()
})

afterAll(() => site.stop())

async function capability(action: 'apply' | 'remove' = 'apply'): Promise<string> {
  const value = await site.capability(planId, action)
  issued.push(value)
  return value
}

function kept(answer: Answer): Answer {
  answers.push(JSON.stringify(answer.headers), answer.text)
  return answer
}

/** The part that nobody could know without having seen the value: enough of it is as bad as all. */
const canaries = () => [...issued.map((value) => value.slice(4)), adminToken]

async function expectNoCanary(): Promise<void> {
  const lines = await site.api.service.store.readAudit(0, 10_000)
  expect(lines.length).toBeGreaterThan(0)
  const places = {
    log: site.api.log(),
    store: storedBytes(site.api).toString('latin1'),
    audit: JSON.stringify(lines),
    answers: answers.join('\n'),
  }
  const found = Object.entries(places).flatMap(([place, text]) =>
    canaries().flatMap((canary) => (text.includes(canary) ? [`${canary} in ${place}`] : [])),
  )
  expect(found).toEqual([])
}

describe('a capability', () => {
  test('that is used, used again and shown wrongly', async () => {
    const headers = { 'x-deploy-capability': await capability() }
    const use = (path: string, id = planId) => site.api.call({ path, body: { planId: id }, headers })
    kept(await use('/test/remove'))
    kept(await use('/test/apply', 'plan_00000000000000000000000000'))
    expect(kept(await use('/test/apply')).status).toBe(200)
    expect(kept(await use('/test/apply')).body.code).toBe('capability_used')
    await expectNoCanary()
  })

  test('that is sent where it does not belong', async () => {
    const value = await capability()
    const body = { planId, action: 'apply' }
    const path = '/api/internal/token'
    const plan = '/api/deploy/plan'
    const requests: Request[] = [
      { path: `${path}?capability=${value}`, method: 'GET' },
      { path: `/api/deploy/plans/${value}` },
      { path: `/api/deploy/plans/${value.replace('_', '%5F')}` },
      { path: `/api/deploy/plans/%63${value.slice(1)}` },
      { path: `/${value}/%zz` },
      { path: `/${value}`, method: 'DELETE' },
      { path: '/api/policy', headers: { authorization: `Bearer ${value}` } },
      { path: '/api/policy', headers: { cookie: `c=${value}`, 'user-agent': value, referer: `http://x/${value}` } },
      { path: '/api/policy', headers: { origin: `http://${value}.test` } },
      { path: '/api/policy', headers: { 'x-forwarded-for': value } },
      { path: '/api/policy', headers: { 'x-request-id': value, 'request-id': value, traceparent: value } },
      { path, body, headers: { 'content-type': value } },
      { path, body: { planId: value } },
      { path, body: { planId, action: value } },
      { path, body: { ...body, capability: value } },
      { path, body: { ...body, [value]: 1 } },
      { path, body: `{"planId": ${value}}`, headers: { 'content-type': 'application/json' } },
      { path, body: `{"${value}": 1, "${value}": 2}`, headers: { 'content-type': 'application/json' } },
      { path, body: `"${value}`, headers: { 'content-type': 'application/json' } },
      { path, body: value.repeat(1_000), headers: { 'content-type': 'application/json' } },
      { path: plan, body: site.request({ subdomain: value }) },
      { path: plan, body: site.request({ zone: value }) },
      { path: plan, body: site.request({ server: value }) },
      { path: plan, body: site.request({ [value]: { [value]: value } }) },
      { path: plan, body: site.request({ port: value, tls: value, expiresIn: value }) },
    ]
    for (const request of requests) {
      expect(kept(await site.api.call(request)).status).toBeLessThan(500)
    }
    await expectNoCanary()
  })

  test('inside what is not even HTTP', async () => {
    const value = await capability()
    const { origin, network } = site.api
    for (const bytes of [
      `${value}\r\n\r\n`,
      rawRequest(origin, `GET /${value} HTTP/1.1`, `Host : ${value}`),
      rawRequest(origin, 'GET / HTTP/1.1', `Host: ${value}`),
      rawRequest(origin, 'GET / HTTP/1.1', `${value} x: y`),
      rawRequest(origin, `${value} / HTTP/1.1`),
    ]) {
      const { text } = await sendRaw(origin, `${network}.10`, bytes)
      expect(text).toMatch(/^HTTP\/1\.1 4/)
      answers.push(text)
    }
    await expectNoCanary()
  })
})

describe('the administrator token', () => {
  test('right, wrong, outside and in places where it does not belong', async () => {
    const headers = { 'x-deploy-token': adminToken }
    expect(kept(await site.api.call({ path: '/test/apply', body: { planId }, headers })).status).toBe(200)
    const requests: Request[] = [
      { path: '/test/apply', body: { planId }, headers: { 'x-deploy-token': `${adminToken}x` } },
      { path: '/test/apply', body: { planId }, headers, from: 'outside' },
      { path: `/api/policy?token=${adminToken}`, headers },
      { path: `/${adminToken}` },
      { path: `/${adminToken.replace('-', '%2D')}` },
      { path: '/api/internal/token', body: { planId: adminToken } },
      { path: '/api/internal/token', body: `{"token": ${adminToken}`, headers: { 'content-type': 'application/json' } },
    ]
    for (const request of requests) {
      kept(await site.api.call(request))
    }
    await expectNoCanary()
  })
})

describe('when the service itself fails', () => {
  test('an error that quotes the secrets is told to nobody', async () => {
    const headers = { 'x-deploy-capability': await capability(), 'x-deploy-token': adminToken }
    const { status, body } = kept(await site.api.call({ path: '/test/throw', headers }))
    expect([status, body.code]).toEqual([500, 'internal_error'])
    expect(site.api.log()).toContain('broke on [capability] [secret]')
    await expectNoCanary()
  })

  test('a store that is lost, under plan, token, use and refusal', async () => {
    const headers = { 'x-deploy-capability': await capability(), 'x-deploy-token': adminToken }
    const lines = await site.api.service.store.readAudit(0, 10_000)
    await site.api.service.store.close()
    for (const request of [
      { path: '/api/deploy/plan', body: site.request() },
      { path: '/api/deploy/plan', body: { zone: headers['x-deploy-capability'] } },
      { path: '/api/internal/token', body: { planId } },
      { path: '/test/apply', body: { planId } },
    ]) {
      const { status, body } = kept(await site.api.call({ ...request, headers }))
      expect(status).toBeGreaterThanOrEqual(500)
      expect(['unavailable', 'internal_error']).toContain(body.code)
      expect(JSON.stringify(body)).not.toMatch(/sqlite|select|\bat .*\.ts|drawbridge\.db/i)
    }
    Object.assign(site.api.service.store, { readAudit: async () => lines, close: async () => undefined })
    await expectNoCanary()
  })

  test.each([
    'postgres://drawbridge:CANARY@127.0.0.1:9/drawbridge',
    'postgres://drawbridge:CANARY%20x@127.0.0.1:9/drawbridge',
    'postgres://drawbridge:CANARY@127.0.0.1:99999/drawbridge',
    'postgres://drawbridge:CANARY%zz@127.0.0.1:9/drawbridge',
    'mysql://drawbridge:CANARY@127.0.0.1:9/drawbridge',
  ])('a store address that leads nowhere (%s) does not show its password', async (address) => {
    const failure = await startService({ environment: { DRAWBRIDGE_STORE: address } }).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(Error)
    expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain('CANARY')
  })
})
