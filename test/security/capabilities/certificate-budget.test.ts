import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceConfig } from '../../../lab/service-config.ts'
import { statePaths } from '../../../lab/state.ts'
import { type AcmeFault, type AcmeFaultProxy, startFaultProxy } from '../../support/acme/acme-fault-proxy.ts'
import { updateZone } from '../../support/dns/lab-dns.ts'
import type { Answer } from '../../support/http/call.ts'
import { planned, planRequest, run, world } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { change, rowsOf } from '../../support/lab/lab-store.ts'
import { expectApplicable, expectFailure, expectPutBack } from '../../support/lab/put-back.ts'

/** Row 17: an authority that answers 429, hangs, or refuses by CAA. A proxy before a real Pebble misbehaves in its name. */
let lab: TestLab
let proxy: AcmeFaultProxy
beforeAll(async () => {
  lab = await startTestLab({ service: false })
  const { hostname, port } = new URL(lab.description.acme.directory)
  proxy = await startFaultProxy(join(lab.state, 'pebble'), Number(port), hostname)
  await lab.restartService(withAcme({}))
})
afterAll(async () => {
  await lab?.stop()
  await proxy?.[Symbol.asyncDispose]()
})
beforeEach(() => {
  proxy.goWrong(() => undefined)
  change(lab, 'delete from authorities')
  change(lab, 'delete from ledger')
})

const withAcme = (more: object) => (config: ServiceConfig) => ({
  ...config,
  acme: { ...(config.acme as object), directory: proxy.directory, timeoutSeconds: 1, ...more },
})

/** Every request for a new order, whatever came of it. */
const orders = () => proxy.seen.filter(({ path }) => path === '/order-plz').length
const requests = () => proxy.seen.length

const problem = (type: string, status: number, headers = {}): AcmeFault => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  body: JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail: 'canary-of-the-authority' }),
})

const plan = (subdomain: string, tls = true) =>
  lab.call({ path: '/api/deploy/plan', body: planRequest(lab, { subdomain, tls }) })

function expectRetryAfter({ body, headers }: Answer, longest: number): void {
  expect(body.retryAfter).toBeGreaterThan(0)
  expect(body.retryAfter).toBeLessThanOrEqual(longest)
  expect(headers['retry-after']).toBe(String(body.retryAfter))
}

describe('429 with Retry-After: 3600', () => {
  test('20 applies, many at once, ask for one order; each is told when to come again, also after a restart', async () => {
    const plans = await Promise.all(
      Array.from({ length: 20 }, (_, i) => planned(lab, { subdomain: `limited${i}`, tls: true })),
    )
    const before = { orders: orders(), world: await world(lab) }
    proxy.goWrong((path) =>
      path === '/order-plz' ? problem('rateLimited', 429, { 'retry-after': '3600' }) : undefined,
    )
    const together = await Promise.all(plans.slice(0, 14).map(({ planId }) => run(lab, planId)))
    await lab.killService('SIGKILL')
    const asked = requests()
    const later: Answer[] = []
    for (const { planId } of plans.slice(14)) later.push(await run(lab, planId))
    expect(orders() - before.orders).toBe(1)
    expect(requests()).toBe(asked)
    for (const answer of [...together, ...later]) {
      expectRetryAfter(answer, 3600)
      expect(answer.text).not.toContain('canary')
    }
    for (const answer of later) {
      expectFailure(answer, 422, 'certificate_unavailable', 'check')
      expect(answer.body.retryAfter).toBeGreaterThan(3500)
      expect(answer.body.detail).toMatch(
        /^No certificate can be ordered from .* now: the authority asked for no requests for a while\.$/,
      )
    }
    await expectPutBack(lab, plans[0].planId, before.world)
  })

  test('plans that need an order are refused meanwhile, others are not', async () => {
    proxy.goWrong((path) =>
      path === '/order-plz' ? problem('rateLimited', 429, { 'retry-after': '3600' }) : undefined,
    )
    const { planId } = await planned(lab, { subdomain: 'first', tls: true })
    expectFailure(await run(lab, planId), 502, 'apply_failed', 'certificate')
    const asked = requests()
    const refused = await plan('second')
    expect(refused).toMatchObject({ status: 422, body: { code: 'certificate_unavailable', retryable: true } })
    expectRetryAfter(refused, 3600)
    expect(refused.body.checks.at(2)).toMatchObject({ name: 'certificate', status: 'failed', reason: 'budget' })
    expect((await plan('plain', false)).status).toBe(201)
    expect(requests()).toBe(asked)
  })

  test('as a date is understood as well, and when it is over the same plan is applied', async () => {
    const { planId } = await planned(lab, { subdomain: 'dated', tls: true })
    const date = new Date(Date.now() + 600_000).toUTCString()
    proxy.goWrong((path) => (path === '/order-plz' ? problem('rateLimited', 429, { 'retry-after': date }) : undefined))
    const answer = await run(lab, planId)
    expectRetryAfter(answer, 600)
    expect(answer.body.retryAfter).toBeGreaterThan(500)
    proxy.goWrong(() => undefined)
    change(lab, 'update authorities set new_orders_paused_until = 1')
    change(lab, 'update ledger set at = at - 60000')
    await expectApplicable(lab, planId)
  })
})

describe('an authority that hangs', () => {
  test('gets at most one order of each run, and those who waited behind the first ask no more', async () => {
    const plans = await Promise.all(
      ['slow1', 'slow2', 'slow3'].map((subdomain) => planned(lab, { subdomain, tls: true })),
    )
    const before = { orders: orders(), world: await world(lab) }
    proxy.goWrong((path) => (path === '/order-plz' ? 'hang' : undefined))
    const answers = await Promise.all(plans.map(({ planId }) => run(lab, planId)))
    for (const answer of answers) {
      expectFailure(answer, 502, 'apply_failed', 'certificate')
      expect(answer.body.detail).toContain('did not answer in time')
      expectRetryAfter(answer, 5)
    }
    expect(orders() - before.orders).toBe(1)
    await expectPutBack(lab, plans[0].planId, before.world)
  })
})

describe('an authority that refuses by CAA', () => {
  test('gets one order of each run, and each failure makes the next try wait longer', async () => {
    const { planId } = await planned(lab, { subdomain: 'forbidden', tls: true })
    const before = orders()
    proxy.goWrong((path) => (path === '/order-plz' ? problem('caa', 403) : undefined))
    const first = await run(lab, planId)
    expectFailure(first, 502, 'apply_failed', 'certificate')
    expect(first.body.detail).toContain('refused (caa)')
    expect(first.body.retryAfter).toBe(5)
    const tooSoon = await run(lab, planId)
    expectFailure(tooSoon, 422, 'certificate_unavailable', 'check')
    expectRetryAfter(tooSoon, 5)
    expect(tooSoon.body.detail).toContain('the last attempt for forbidden.lab.test failed')
    expect(orders() - before).toBe(1)
    change(lab, 'update ledger set at = at - 5000')
    expect((await run(lab, planId)).body.retryAfter).toBe(10)
    expect(orders() - before).toBe(2)
    const log = readFileSync(statePaths(lab.state).log, 'utf8')
    expect(log).toMatch(/"progress":"failed","detail":"[^"]*refused \(caa\)[^"]*The next attempt is allowed in 10 s\./)
  })

  test('is not asked at all when the zone says so: the record is named', async () => {
    const before = requests()
    updateZone(lab, 'add lab.test 60 CAA 0 issue "other.test"')
    try {
      const refused = await plan('caa')
      expect(refused).toMatchObject({ status: 422, body: { code: 'certificate_unavailable' } })
      expect(refused.body.checks.at(2)).toMatchObject({
        reason: 'caa_forbids',
        detail:
          'The CAA records of lab.test allow only other certificate authorities: issue "other.test"; our certificate authority is ca.lab.test.',
        record: { name: 'lab.test', tag: 'issue', value: 'other.test' },
      })
    } finally {
      updateZone(lab, 'delete lab.test CAA')
    }
    expect(proxy.seen.slice(before).map(({ path }) => path)).not.toContain('/order-plz')
  })
})

describe('the local budget', () => {
  test.runIf(process.env.CAMPAIGN)(
    'is told with each plan, refuses what goes beyond it, and asks the authority nothing then',
    async () => {
      await lab.restartService(
        withAcme({ limits: { certificatesPerDomain: '2 per 1h', ordersPerAccount: '100 per 3h' } }),
      )
      for (const [subdomain, left] of [
        ['one', 2],
        ['two', 1],
      ] as const) {
        const { planId, checks } = await planned(lab, { subdomain, tls: true })
        expect(checks.at(2).budget).toMatchObject({
          failures: 0,
          limits: [
            { limit: 'ordersPerAccount' },
            { limit: 'certificatesPerDomain', subject: 'lab.test', left, count: 2 },
          ],
        })
        await expectApplicable(lab, planId)
      }
      expect(rowsOf(lab, 'select kind, names from ledger order by seq')).toEqual(
        ['one', 'two'].flatMap((name) => ['ordered', 'issued'].map((kind) => ({ kind, names: `${name}.lab.test` }))),
      )
      const asked = requests()
      const refused = await plan('three')
      expect(refused).toMatchObject({ status: 422, body: { code: 'certificate_unavailable' } })
      expect(refused.body.detail).toContain('the limit of 2 certificates for lab.test in 1 hour is reached')
      expectRetryAfter(refused, 1800)
      expect(requests()).toBe(asked)
      expect((await plan('one')).status).toBe(201)
    },
  )

  test.runIf(process.env.CAMPAIGN)(
    'counts each directory by itself: another one has its own account, orders and budget',
    async () => {
      proxy.goWrong((path) =>
        path === '/order-plz' ? problem('rateLimited', 429, { 'retry-after': '3600' }) : undefined,
      )
      const { planId } = await planned(lab, { subdomain: 'here', tls: true })
      expectFailure(await run(lab, planId), 502, 'apply_failed', 'certificate')
      await lab.restartService()
      const { planId: there } = await planned(lab, { subdomain: 'there', tls: true })
      await expectApplicable(lab, there)
      expect(rowsOf(lab, 'select directory from authorities where new_orders_paused_until > 0')).toEqual([
        { directory: proxy.directory },
      ])
    },
  )
})
