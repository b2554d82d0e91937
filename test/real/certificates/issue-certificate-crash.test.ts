import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { AcmeIssuerOptions } from '../../../src/certificates/acme/issuer.ts'
import type { ChallengeResponder, OrderBook, OrderSecrets } from '../../../src/certificates/contract.ts'
import { loadPair } from '../../../src/certificates/stock/pair.ts'
import { DnsWriteFault } from '../../../src/dns/contract.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { type AcmeFault, authorizationAnswer } from '../../support/acme/acme-fault-proxy.ts'
import { filesBelow, HOST, issuingBench } from '../../support/acme/issuing.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const { bench, issuer, faultOf, ordersPlaced } = issuingBench()

describe('a crash', () => {
  /** Runs an issuer up to the point where it dies: from there on it neither goes on nor cleans up. */
  async function crash(kill: (die: () => Promise<never>) => { orders?: OrderBook; responder?: ChallengeResponder }) {
    const dead = Promise.withResolvers<void>()
    const die = () => {
      dead.resolve()
      return new Promise<never>(() => undefined)
    }
    const { orders: book = bench().orders, responder = bench().site.responder } = kill(die)
    const lost = issuer({ orders: book }).issue([HOST], responder)
    await Promise.race([dead.promise, lost.then(() => Promise.reject(new Error('it did not die')))])
  }
  const dieAtRequest = (path: string, fault: AcmeFault) => (die: () => Promise<never>) => {
    bench().proxy.goWrong((asked) => {
      if (!asked.startsWith(path)) return undefined
      die()
      return fault
    })
    return {}
  }
  const keyUnderWay = () => {
    const file = filesBelow(bench().state.path).find((name) => /orders\/\w+\/privkey\.pem$/.test(name))
    return file && readFileSync(join(bench().state.path, file), 'utf8')
  }

  test.each<[string, Parameters<typeof crash>[0]]>([
    [
      'after the order was noted',
      (die) => ({ orders: { ...bench().orders, putOrder: (order) => bench().orders.putOrder(order).then(die) } }),
    ],
    ['before the proof is shown', (die) => ({ responder: { ...bench().site.responder, present: die } })],
    [
      'after the proof is shown',
      (die) => ({
        responder: {
          ...bench().site.responder,
          present: (...proof) =>
            bench()
              .site.responder.present(...proof)
              .then(die),
        },
      }),
    ],
    ['before the challenge is handed in', dieAtRequest('/chalZ', 'hang')],
    ['after the challenge is handed in', dieAtRequest('/my-order', 'hang')],
    ['before the order is finalized', dieAtRequest('/finalize-order', 'hang')],
    ['before the certificate is fetched', dieAtRequest('/certZ', 'hang')],
    ['before the order is forgotten', (die) => ({ orders: { ...bench().orders, deleteOrder: die } })],
  ])('%s: the next call resumes the order with its key', async (_, kill) => {
    await crash(kill)
    const key = keyUnderWay()
    expect(key).toBeDefined()
    bench().proxy.goWrong(() => undefined)
    const issued = await issuer().issue([HOST], bench().site.responder)
    expect(ordersPlaced()).toBe(1)
    expect(bench().told.join()).toContain('order_resumed')
    expect((await loadPair(issued)).keyPem).toBe(key)
    expect(await bench().site.challengesOf(HOST)).toBe(0)
    expect(bench().orders.records.size).toBe(0)
    expect(keyUnderWay()).toBeUndefined()
  })

  test('while the authority looks for the proof: it is shown, but not handed in again', async () => {
    await crash(dieAtRequest('/my-order', 'hang'))
    const { origin } = new URL(bench().proxy.directory)
    const order = { status: 'pending', authorizations: [`${origin}/authZ/1`], finalize: `${origin}/finalize` }
    let looks = 0
    bench().proxy.goWrong((path) => {
      if (path === '/authZ/1') return authorizationAnswer(HOST, 'token', 'processing')
      if (!path.startsWith('/my-order') || looks++ > 0) return undefined
      return { status: 200, body: JSON.stringify(order) }
    })
    expect((await issuer().issue([HOST], bench().site.responder)).names).toEqual([HOST])
    expect(ordersPlaced()).toBe(1)
  })

  test('and a lost answer: the finalized order is resumed, a new order is not repeated', async () => {
    bench().proxy.goWrong((path) => (path.startsWith('/finalize-order') ? 'lose_answer' : undefined))
    expect(await faultOf(issuer().issue([HOST], bench().site.responder))).toMatchObject({ kind: 'unavailable' })
    bench().proxy.goWrong(() => undefined)
    await issuer().issue([HOST], bench().site.responder)
    expect(ordersPlaced()).toBe(1)
    bench().proxy.goWrong((path) => (path.startsWith('/order-plz') ? 'lose_answer' : undefined))
    expect(await faultOf(issuer().issue([HOST], bench().site.responder))).toMatchObject({ kind: 'unavailable' })
    expect(ordersPlaced()).toBe(2)
  })

  const afterTheProof: Parameters<typeof crash>[0] = (die) => ({
    responder: {
      ...bench().site.responder,
      present: (...proof) =>
        bench()
          .site.responder.present(...proof)
          .then(die),
    },
  })

  test('and an authority that wants to be asked later: the order is resumed then', async () => {
    await crash(afterTheProof)
    const later = { status: 403, headers: { 'retry-after': '120' }, body: '{}' }
    bench().proxy.goWrong((path) => (path.startsWith('/my-order') ? later : undefined))
    const refused = await faultOf(issuer().issue([HOST], bench().site.responder))
    expect(refused).toMatchObject({ kind: 'rejected', retryAfter: 120 })
    expect([ordersPlaced(), bench().orders.records.size]).toEqual([1, 1])
  })

  test('of one instance: another, which has a key from an earlier order, completes the order with the shared one', async () => {
    const shared = new Map<string, string>()
    const secrets: OrderSecrets = {
      read: async (name) => shared.get(name),
      put: async (name, text) => void shared.set(name, text),
      putOnce: async (name, text) => shared.set(name, shared.get(name) ?? text).get(name) ?? text,
      drop: async (name) => void shared.delete(name),
      publish: async () => undefined,
    }
    using other = tempFolder()
    const [here, there] = [issuer({ secrets }), issuer({ secrets, stateDir: other.path })]
    const order = (on: ReturnType<typeof issuer>) => on.issue([HOST], bench().site.responder)
    const silentAt = (at: string) => bench().proxy.goWrong((path) => (path.startsWith(at) ? 'lose_answer' : undefined))
    // The first order begins here and is completed there, so that its key is left here.
    silentAt('/chalZ')
    expect(await faultOf(order(here))).toMatchObject({ kind: 'unavailable' })
    silentAt('nowhere')
    await order(there)
    silentAt('/certZ')
    expect(await faultOf(order(there))).toMatchObject({ kind: 'unavailable' })
    silentAt('nowhere')
    expect((await order(here)).names).toEqual([HOST])
    expect(ordersPlaced()).toBe(2)
  })

  test('and a run that is given up: its proof is swept away, and only that', async () => {
    await crash(afterTheProof)
    const other = { name: `_acme-challenge.${HOST}`, type: 'TXT', ttl: 60, value: 'somebody-elses' } as const
    await bench().site.provider.addValue(other)
    expect(await bench().site.challengesOf(HOST)).toBe(2)
    const { waitedFor } = bench().site
    const ends = waitedFor.length
    await issuer().sweepChallenges([HOST], bench().site.responder)
    await issuer().sweepChallenges([HOST], bench().site.responder)
    // The addition was not confirmed, and could be made after the removal.
    expect(waitedFor.slice(ends)).toEqual([expect.any(Number)])
    expect(await bench().site.challengesOf(HOST)).toBe(1)
    await bench().site.provider.removeValue(other)
    await issuer().issue([HOST], bench().site.responder)
    expect(ordersPlaced()).toBe(1)
  })

  test.each<[string, () => Promise<Partial<AcmeIssuerOptions>>]>([
    [
      'the authority has forgotten',
      async () =>
        bench()
          .site.startPebble()
          .then(() => ({})),
    ],
    ['is a day old', async () => ({ clock: { ...systemClock, now: () => Date.now() + 24 * 3_600_000 } })],
  ])('and an order that %s: exactly one new one is placed, and the old proof is gone', async (_, later) => {
    await crash(afterTheProof)
    await issuer(await later()).issue([HOST], bench().site.responder)
    expect(ordersPlaced()).toBe(2)
    expect(await bench().site.challengesOf(HOST)).toBe(0)
  })
})

describe('our own side', () => {
  test('a proof that cannot be shown', async () => {
    const failing: ChallengeResponder = {
      ...bench().site.responder,
      present: () => Promise.reject(new DnsWriteFault('unknown', 'BIND is down.')),
    }
    expect(await faultOf(issuer().issue([HOST], failing))).toMatchObject({
      kind: 'challenge_failed',
      message: `The dns-01 challenge for ${HOST} could not be published. BIND is down.`,
    })
    expect(ordersPlaced()).toBe(1)
    await issuer().issue([HOST], bench().site.responder)
    expect(ordersPlaced()).toBe(1)
  })

  test('a proof that cannot be taken away: the certificate is good, and the failure is reported until it is withdrawn', async () => {
    const stuck: ChallengeResponder = {
      ...bench().site.responder,
      withdraw: () => Promise.reject(new DnsWriteFault('unknown', 'BIND is down.')),
    }
    await issuer().issue([HOST], stuck)
    expect(bench().told.at(-1)).toBe(
      `challenge_left The dns-01 challenge for ${HOST} could not be withdrawn. BIND is down.`,
    )
    expect(await faultOf(issuer().sweepChallenges([HOST], stuck))).toMatchObject({ kind: 'challenge_failed' })
    expect(await bench().site.challengesOf(HOST)).toBe(1)
    await issuer().sweepChallenges([HOST], bench().site.responder)
    expect(await bench().site.challengesOf(HOST)).toBe(0)
  })

  test('a state folder that cannot be written to: nothing is ordered', async () => {
    await issuer().issue([HOST], bench().site.responder)
    const orderFolder = filesBelow(bench().state.path).find((file) => file.endsWith('/orders')) ?? ''
    rmSync(join(bench().state.path, orderFolder), { recursive: true })
    writeFileSync(join(bench().state.path, orderFolder), 'in the way')
    expect(await faultOf(issuer().issue([HOST], bench().site.responder))).toMatchObject({
      kind: 'local',
      message: expect.stringMatching(/orders.* cannot be used \(ENOTDIR\)/),
    })
    expect(ordersPlaced()).toBe(1)
  })

  test('an account key that is none is not replaced', async () => {
    await issuer().issue([HOST], bench().site.responder)
    const file = join(
      bench().state.path,
      filesBelow(bench().state.path).find((name) => name.endsWith('account.key')) ?? '',
    )
    writeFileSync(file, 'canary')
    expect(await faultOf(issuer().issue([HOST], bench().site.responder))).toMatchObject({
      kind: 'local',
      message: expect.stringContaining(`${file} does not have a private key`),
    })
    expect(readFileSync(file, 'utf8')).toBe('canary')
  })

  test.each([['../../etc'], ['a b.test'], ['*.*.test'], ['']])('%j is no name to issue for', async (name) => {
    await expect(issuer().issue([name], bench().site.responder)).rejects.toMatchObject({ kind: 'rejected' })
    expect(filesBelow(bench().state.path)).toEqual([])
  })
})
