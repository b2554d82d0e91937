import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DnsProvider, ZoneRecord } from '../../../src/dns/contract.ts'
import { rfc2136Provider } from '../../../src/dns/rfc2136.ts'
import { splitTsig } from '../../../src/dns/wire/tsig.ts'
import { encodeUpdate, nameNotInUse, rrsetIs } from '../../../src/dns/wire/update.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { type Liar, silent, startLiar } from '../../support/dns/dns-liar.ts'
import { randomKey } from '../../support/dns/served-zone.ts'

/** A stand-in for a name server that answers no update, so that the update itself can be looked at. */
const ZONE = 'lab.test'
const RECORD: ZoneRecord = { name: 'app.lab.test', type: 'A', ttl: 60, value: '127.0.45.23' }

let server: Liar
let provider: DnsProvider
let ended: AbortController
let now: number
beforeEach(async () => {
  server = await startLiar(() => [], silent)
  ended = new AbortController()
  now = Date.now()
  provider = rfc2136Provider({
    zone: ZONE,
    primary: server,
    key: randomKey('sent', 'hmac-sha256'),
    limitMs: 600_000,
    clock: { ...systemClock, now: () => now },
  })
})
afterEach(() => server[Symbol.asyncDispose]())

const guard = (leftMs: number) => ({
  assertHeld: () => undefined,
  ensureHeld: async () => undefined,
  leftMs,
  signal: ended.signal,
})

/** The first update that the server gets. */
async function sentBy(send: () => Promise<unknown>) {
  const sending = send()
  await expect.poll(() => server.asked.length).toBe(1)
  ended.abort(new Error('seen'))
  await expect(sending).rejects.toThrow('seen')
  const parts = splitTsig(server.asked[0]?.query ?? Buffer.alloc(0))
  if (!parts) throw new Error('The update is not signed.')
  return parts
}

/** The zone and the prerequisites of an update, as they are sent. Its number and its counts come before them. */
const beginningOf = (prerequisites: Parameters<typeof encodeUpdate>[1]['prerequisites']) =>
  encodeUpdate(0, { zone: ZONE, prerequisites, changes: [] })

test.each([
  ['a claim: the name is not in use', 'create', nameNotInUse(RECORD.name)],
  ['a removal: the records are as they were written', 'remove', rrsetIs(RECORD)],
] as const)('an update has its prerequisite: %s', async (_, action, prerequisite) => {
  const { message } = await sentBy(() => provider[action]([RECORD], guard(60_000)))
  expect(message.readUInt16BE(6)).toBe(1)
  const expected = beginningOf([prerequisite])
  expect(message.subarray(12, expected.length)).toEqual(expected.subarray(12))
})

/** The clock is half a second after a whole one, and a server accepts a signature during the whole of its last second. */
test.each([
  ['its lease', 5_499, 4],
  ['its lease, to the millisecond', 5_500, 5],
  ['six seconds', 900_000, 6],
])('an update is valid no longer than %s', async (_, leftMs, fudge) => {
  now = 1_800_000_000_500
  const signed: number[] = []
  const signing = async (validUntil: number) => void signed.push(validUntil)
  const { tsig } = await sentBy(() => provider.create([RECORD], guard(leftMs), signing))
  expect(tsig).toMatchObject({ time: 1_800_000_000, fudge })
  expect(signed).toEqual([1_800_000_000 + fudge])
  expect((tsig.time + tsig.fudge + 1) * 1000).toBeLessThanOrEqual(now + leftMs)
})

test('an update whose lease ends too soon is not sent', async () => {
  now = 1_800_000_000_500
  await expect(provider.create([RECORD], guard(1_499))).rejects.toMatchObject({ kind: 'refused' })
  expect(server.asked).toEqual([])
})

test('an update is not sent before the end of its signature is stored', async () => {
  const sending = provider.create([RECORD], guard(60_000), () => Promise.reject(new Error('The store is away.')))
  await expect(sending).rejects.toThrow('The store is away.')
  expect(server.asked).toEqual([])
})

test('an update is not sent without the lease', async () => {
  const lost = () => {
    throw new Error('The lease was lost.')
  }
  const sending = provider.create([RECORD], {
    ...guard(60_000),
    assertHeld: lost,
    ensureHeld: async () => lost(),
    signal: AbortSignal.timeout(2_000),
  })
  await expect(sending).rejects.toThrow('The lease was lost.')
  expect(server.asked).toEqual([])
})
