import { expect, test } from 'vitest'
import { type ChallengeResponder, IssueFault } from '../../../src/certificates/contract.ts'
import { issuingBench, ZONE } from '../../support/acme/issuing.ts'
import { until } from '../../support/until.ts'

const { bench, issuer, ordersPlaced } = issuingBench()

const AT_ONCE = 8
const REASON = new Error('the run must stop')
const hosts = Array.from({ length: 12 }, (_, i) => `many${i}.${ZONE}`)
const asked = (beginning: string) => bench().proxy.seen.filter(({ path }) => path.startsWith(beginning))
const guardOf = (signal: AbortSignal) => ({
  guard: { assertHeld: () => undefined, ensureHeld: async () => undefined, leftMs: 60_000, signal },
})
const RATE_LIMITED = {
  status: 429,
  headers: { 'content-type': 'application/problem+json', 'retry-after': '3600' },
  body: JSON.stringify({ type: 'urn:ietf:params:acme:error:rateLimited' }),
}

/** A responder that publishes no proof before the gate opens. Counts the orders that have got this far. */
function gatedResponder() {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const held = { now: 0, most: 0 }
  const { responder } = bench().site
  const gated: ChallengeResponder = {
    ...responder,
    async present(...proof) {
      held.now += 1
      held.most = Math.max(held.most, held.now)
      await opened
      await responder.present(...proof)
    },
    async withdraw(...proof) {
      await responder.withdraw(...proof)
      held.now -= 1
    },
  }
  return { gated, held, open }
}

test('12 certificates at once: 8 are obtained at the same time, and all are issued', async () => {
  const one = issuer()
  const { gated, held, open } = gatedResponder()
  const issuing = hosts.map((host) => one.issue([host], gated))
  await until('eight orders wait for their proofs', () => held.now >= AT_ONCE)
  // A ninth order would be placed by now: placing one takes milliseconds.
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(ordersPlaced()).toBe(AT_ONCE)
  open()
  expect((await Promise.all(issuing)).map(({ names }) => names)).toEqual(hosts.map((host) => [host]))
  expect(held.most).toBe(AT_ONCE)
  expect(ordersPlaced()).toBe(hosts.length)
})

test('429 for the first of 12 orders: no other is sent, and each is told when to come again', async () => {
  const one = issuer()
  bench().proxy.goWrong((path) => (path === '/order-plz' ? RATE_LIMITED : undefined))
  const outcomes = await Promise.allSettled(hosts.map((host) => one.issue([host], bench().site.responder)))
  expect(asked('/order-plz')).toHaveLength(1)
  const faults = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : undefined))
  expect(faults.every((fault) => fault instanceof IssueFault && (fault.retryAfter ?? 0) > 3_500)).toBe(true)
  expect(faults.filter(({ kind }) => kind === 'rate_limited')).toHaveLength(1)
})

test('429 for one of 8 orders under way: those that wait are refused, also one to be resumed, the other 7 are issued', async () => {
  const one = issuer()
  const left = hosts[11] ?? ''
  const controller = new AbortController()
  const stuck: ChallengeResponder = {
    ...bench().site.responder,
    present: async () => {
      controller.abort(REASON)
      await new Promise(() => undefined)
    },
  }
  await expect(one.issue([left], stuck, guardOf(controller.signal))).rejects.toBe(REASON)
  const [resumable] = [...bench().orders.records.values()]
  const { gated, held, open } = gatedResponder()
  const issuing = hosts.map((host) => one.issue([host], gated))
  await until('eight orders wait for their proofs', () => held.now >= AT_ONCE)
  bench().proxy.goWrong((path) =>
    path.startsWith('/chalZ') && asked('/chalZ').length === 0 ? RATE_LIMITED : undefined,
  )
  open()
  const outcomes = await Promise.allSettled(issuing)
  expect(outcomes.slice(0, AT_ONCE).filter(({ status }) => status === 'fulfilled')).toHaveLength(AT_ONCE - 1)
  for (const outcome of outcomes.slice(AT_ONCE)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'over_budget' } })
    expect(outcome.status === 'rejected' && outcome.reason.retryAfter).toBeGreaterThan(3_500)
  }
  expect(ordersPlaced()).toBe(1 + AT_ONCE)
  expect(asked(new URL(resumable?.url ?? '').pathname)).toEqual([])
})

test('an abort takes an order out of the queue, and the next one has its place', async () => {
  const one = issuer()
  const { gated, held, open } = gatedResponder()
  const issuing = hosts.slice(0, AT_ONCE).map((host) => one.issue([host], gated))
  await until('eight orders wait for their proofs', () => held.now >= AT_ONCE)
  const controller = new AbortController()
  const leaving = one.issue([hosts[8] ?? ''], gated, guardOf(controller.signal))
  const staying = one.issue([hosts[9] ?? ''], gated)
  setTimeout(() => controller.abort(REASON), 50)
  await expect(leaving).rejects.toBe(REASON)
  expect(held.now).toBe(AT_ONCE)
  open()
  await Promise.all([...issuing, staying])
  expect(ordersPlaced()).toBe(AT_ONCE + 1)
})

test('an authority that does not answer an order fails all that wait, after one timeout', async () => {
  const one = issuer({ limits: { requestMs: 1_000, pollMs: 20 } })
  bench().proxy.goWrong((path) => (path === '/order-plz' ? 'hang' : undefined))
  const outcomes = await Promise.allSettled(hosts.map((host) => one.issue([host], bench().site.responder)))
  for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } })
  expect(asked('/order-plz')).toHaveLength(1)
})
