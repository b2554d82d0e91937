import { describe, expect, test } from 'vitest'
import type { ChallengeResponder } from '../../../src/certificates/contract.ts'
import { HOST, issuingBench, ZONE } from '../../support/acme/issuing.ts'
import { until } from '../../support/until.ts'

const { bench, issuer, ordersPlaced } = issuingBench()

const REASON = new Error('the run must stop')
const OTHER = `other.${ZONE}`
/** No limit of time ends a wait before the abort does. */
const PATIENT = { limits: { requestMs: 600_000, decisionMs: 600_000, pollMs: 20 } }

const guardOf = (signal: AbortSignal) => ({
  guard: { assertHeld: () => undefined, ensureHeld: async () => undefined, leftMs: 4_000, signal },
})
const hanging = (beginning: string) =>
  bench().proxy.goWrong((path) => (path.startsWith(beginning) ? 'hang' : undefined))
const well = () => bench().proxy.goWrong(() => undefined)
const isAsked = (beginning: string) => () => bench().proxy.seen.some(({ path }) => path.startsWith(beginning))
const failures = () => bench().ledger.lines.filter(({ kind }) => kind === 'failed')

/** Aborts when `when` holds. */
function abortedWhen(when: () => boolean): AbortSignal {
  const controller = new AbortController()
  void until('it is time to abort', when).then(() => controller.abort(REASON))
  return controller.signal
}

/** What happened after an abort must be as if nothing had been wrong with the authority. */
async function expectIssuedNext(one: ReturnType<typeof issuer>): Promise<void> {
  expect(failures()).toEqual([])
  well()
  expect((await one.issue([HOST], bench().site.responder)).names).toEqual([HOST])
  expect(await bench().site.challengesOf(HOST)).toBe(0)
}

describe('an order ends with the abort, counts as no failure, and the next call continues it', () => {
  test.each([
    ['the directory', '/dir'],
    ['a new account', '/sign-me-up'],
    ['a new order', '/order-plz'],
    ['an authorization', '/authZ/'],
    ['a challenge', '/chalZ/'],
    ['the state of an order', '/my-order/'],
  ])('while the authority does not answer a request for %s', async (_, path) => {
    const one = issuer(PATIENT)
    hanging(path)
    const signal = abortedWhen(isAsked(path))
    await expect(one.issue([HOST], bench().site.responder, guardOf(signal))).rejects.toBe(REASON)
    await expectIssuedNext(one)
    expect(ordersPlaced()).toBe(1)
  })

  test('while the authority asks to wait for its decision', async () => {
    const one = issuer(PATIENT)
    const body = JSON.stringify({ status: 'processing', authorizations: [], finalize: '' })
    const waiting = { status: 200, headers: { 'retry-after': '300' }, body }
    bench().proxy.goWrong((path) => (path.startsWith('/my-order/') ? waiting : undefined))
    const signal = abortedWhen(isAsked('/my-order/'))
    await expect(one.issue([HOST], bench().site.responder, guardOf(signal))).rejects.toBe(REASON)
    await expectIssuedNext(one)
    expect(ordersPlaced()).toBe(1)
  })

  test('while the proof is being published, and the proof can be withdrawn afterwards', async () => {
    const one = issuer(PATIENT)
    const controller = new AbortController()
    let passed: AbortSignal | undefined
    const stuck: ChallengeResponder = {
      ...bench().site.responder,
      async present(host, token, keyAuthorization, signal) {
        await bench().site.responder.present(host, token, keyAuthorization)
        passed = signal
        controller.abort(REASON)
        await new Promise(() => undefined)
      },
    }
    await expect(one.issue([HOST], stuck, guardOf(controller.signal))).rejects.toBe(REASON)
    expect(passed).toBe(controller.signal)
    expect(await bench().site.challengesOf(HOST)).toBe(1)
    const mute: ChallengeResponder = { ...bench().site.responder, withdraw: () => new Promise(() => undefined) }
    await expect(one.sweepChallenges([HOST], mute, AbortSignal.abort(REASON))).rejects.toBe(REASON)
    await one.sweepChallenges([HOST], bench().site.responder)
    expect(await bench().site.challengesOf(HOST)).toBe(0)
    await expectIssuedNext(one)
  })

  test('while another order is placed, which then fails nobody who waits', async () => {
    const one = issuer(PATIENT)
    await one.issue([HOST], bench().site.responder)
    hanging('/order-plz')
    const [first, second] = [new AbortController(), new AbortController()]
    const placing = one.issue([HOST], bench().site.responder, guardOf(first.signal))
    const before = bench().proxy.seen.length
    await until('the first order is sent', () =>
      bench()
        .proxy.seen.slice(before)
        .some(({ path }) => path === '/order-plz'),
    )
    const leaving = one.issue([OTHER], bench().site.responder, guardOf(second.signal))
    const staying = one.issue([`*.${ZONE}`], bench().site.responder)
    setTimeout(() => second.abort(REASON), 200)
    await expect(leaving).rejects.toBe(REASON)
    well()
    first.abort(REASON)
    await expect(placing).rejects.toBe(REASON)
    expect((await staying).names).toEqual([`*.${ZONE}`])
    expect(failures()).toEqual([])
    expect(ordersPlaced()).toBe(2)
  })

  test('before it begins', async () => {
    const guarded = guardOf(AbortSignal.abort(REASON))
    await expect(issuer().issue([HOST], bench().site.responder, guarded)).rejects.toBe(REASON)
    expect(bench().proxy.seen).toEqual([])
  })
})
