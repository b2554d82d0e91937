import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type AcmeFaultProxy, startFaultProxy } from '../support/acme/acme-fault-proxy.ts'
import { planned, run, world } from '../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../support/lab/lab.ts'
import { change } from '../support/lab/lab-store.ts'
import { expectApplicable, expectFailure, expectPutBack } from '../support/lab/put-back.ts'
import { until } from '../support/until.ts'

/** A Pebble that refuses every second nonce, behind a proxy that fails on demand. */
let lab: TestLab
let proxy: AcmeFaultProxy
beforeAll(async () => {
  process.env.PEBBLE_WFE_NONCEREJECT = '50'
  lab = await startTestLab().finally(() => {
    delete process.env.PEBBLE_WFE_NONCEREJECT
  })
  const { hostname, port } = new URL(lab.description.acme.directory)
  proxy = await startFaultProxy(join(lab.state, 'pebble'), Number(port), hostname)
  await lab.restartService((config) => ({
    ...config,
    acme: { ...(config.acme as object), directory: proxy.directory, backoff: { firstSeconds: 60 } },
  }))
})
afterAll(async () => {
  await lab?.stop()
  await proxy?.[Symbol.asyncDispose]()
})
afterEach(() => proxy.goWrong(() => undefined))

const orders = () => proxy.seen.filter(({ path, status }) => path === '/order-plz' && status === 201).length

test('the certificate is issued with one order although every second nonce is refused', async () => {
  const before = orders()
  const { planId } = await planned(lab, { subdomain: 'nonces', tls: true })
  await expectApplicable(lab, planId)
  expect(orders() - before).toBe(1)
})

const REFUSALS = [
  ['limited', 'limits the rate', { status: 429, type: 'rateLimited' }],
  ['denied', 'refuses the order', { status: 403, type: 'rejectedIdentifier' }],
  ['broken', 'breaks down', { status: 500, type: 'serverInternal' }],
] as const

test.each(process.env.CAMPAIGN ? REFUSALS : REFUSALS.slice(0, 1))(
  '%s: an authority that %s is reported, and all changes are undone',
  async (subdomain, _what, { status, type }) => {
    const before = await world(lab)
    const { planId } = await planned(lab, { subdomain, tls: true })
    const headers = { 'content-type': 'application/problem+json', 'retry-after': '77' }
    const body = JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail: 'canary-from-the-authority' })
    proxy.goWrong((path) => (path === '/order-plz' ? { status, headers, body } : undefined))
    const answer = await run(lab, planId)
    expectFailure(answer, 502, 'apply_failed', 'certificate')
    expect(answer.text).not.toContain('canary')
    expect(answer.body.retryAfter).toBe(status === 403 ? 60 : 77)
    await expectPutBack(lab, planId, before)
    proxy.goWrong(() => undefined)
    const again = await run(lab, planId)
    expectFailure(again, 422, 'certificate_unavailable', 'check')
    expect(again.body.retryAfter).toBeGreaterThan(0)
    change(lab, 'update authorities set new_orders_paused_until = 0')
    change(lab, 'delete from ledger')
    await expectApplicable(lab, planId)
  },
)

test.runIf(process.env.CAMPAIGN)('an unavailable authority is found by the check or by the order', async () => {
  const before = await world(lab)
  const plans = await Promise.all(['orphan', 'waif'].map((subdomain) => planned(lab, { subdomain, tls: true })))
  const [orphan, waif] = plans.map(({ planId }) => planId)
  process.kill(lab.description.pids.acme ?? 0, 'SIGKILL')
  await until('Pebble is gone', () => lab.description.pids.acme === undefined)
  expectFailure(await run(lab, orphan), 502, 'apply_failed', 'certificate')
  await expectPutBack(lab, orphan, before)
  await lab.killService()
  expectFailure(await run(lab, waif), 422, 'certificate_unavailable', 'check')
  await expectPutBack(lab, waif, before)
})
