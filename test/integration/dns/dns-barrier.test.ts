import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { leased, type ZoneRecord } from '../../../src/dns/contract.ts'
import { holdsExactly } from '../../../src/dns/read-back.ts'
import { dnsReader } from '../../../src/dns/reader.ts'
import { rfc2136Provider } from '../../../src/dns/rfc2136.ts'
import type { Afters } from '../../../src/model/receipt.ts'
import { claimNameStep, releaseNameStep } from '../../../src/runs/steps/dns.ts'
import { type HoldingServer, startHoldingServer } from '../../support/dns/holding-server.ts'
import { randomKey } from '../../support/dns/served-zone.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

/** A stand-in for a name server answers every question while it holds updates. */
const HOST = 'app.lab.test'
const RECORDS: readonly ZoneRecord[] = [
  { name: HOST, type: 'A', ttl: 60, value: '127.0.45.23' },
  { name: `_drawbridge.${HOST}`, type: 'TXT', ttl: 60, value: 'drawbridge exposure_1' },
]
const BOTH = [`${HOST} A`, `_drawbridge.${HOST} TXT`]

let server: HoldingServer
let clock: VirtualClock
/** How far the clock of the server is ahead of ours. */
let serverAheadMs: number
let key: ReturnType<typeof randomKey>
beforeEach(async () => {
  clock = new VirtualClock()
  serverAheadMs = 0
  key = randomKey('drawbridge')
  server = await startHoldingServer(key, () => clock.now() + serverAheadMs)
})
afterEach(() => server[Symbol.asyncDispose]())

const guard = {
  assertHeld: () => undefined,
  ensureHeld: async () => undefined,
  leftMs: 30_000,
  signal: new AbortController().signal,
}

/** The steps of one process. The journal is what it notes. */
function processOf(image: { readonly records: readonly ZoneRecord[] } = { records: RECORDS }) {
  const provider = leased(rfc2136Provider({ zone: 'lab.test', primary: server, key, clock }), guard)
  const reader = dnsReader(server, { clock })
  const parts = {
    provider,
    readBack: (records: readonly ZoneRecord[]) => holdsExactly(reader, records),
    readSets: async () => 'unknown' as const,
    patienceMs: 1_000,
    clock,
  }
  const journal = { image, details: [] as string[] }
  const note = async (noted: typeof image, detail?: string) => {
    journal.image = noted
    if (detail !== undefined) journal.details.push(detail)
  }
  const stepsOf = (make: typeof claimNameStep) => {
    const step = make(HOST, RECORDS, parts)
    return {
      do: () => step.do(journal.image, {}, note),
      undo: (afters: Afters = {}) => step.undo(journal.image, afters, note),
    }
  }
  return { journal, provider, claim: stepsOf(claimNameStep), release: stepsOf(releaseNameStep) }
}

const holds = (count: number) => expect.poll(() => server.held()).toBe(count)

/** Begins a change whose update the server holds, and lets its time pass. */
async function stalled<T>(begin: () => Promise<T>, where: 'unread' | 'queued', ms = 10_000): Promise<Promise<T>[]> {
  const changing = begin()
  changing.catch(() => undefined)
  // The update that changes nothing passes; the next one is held.
  server.hold(where)
  await holds(1)
  await clock.advance(ms)
  return [changing]
}

/** Begins it at a server that passes exactly one update. */
async function heldAfterCheck<T>(begin: () => Promise<T>, where: 'unread' | 'queued') {
  server.hold(where)
  const changing = begin()
  changing.catch(() => undefined)
  await holds(1)
  server.release()
  server.hold(where)
  return stalled(() => changing, where)
}

describe('an update that is made after the answer was given up', () => {
  test('is found by the claim itself, and nothing stays without an exposure', async () => {
    const { claim, journal } = processOf()
    const [claiming] = await heldAfterCheck(claim.do, 'queued')
    // The server answers questions all the time: nothing is there yet.
    await holds(2)
    server.release()
    await expect(claiming).resolves.toEqual({ records: RECORDS })
    expect(server.served()).toEqual(BOTH)
    expect(journal.details).toEqual([expect.stringContaining('Waiting until it is certain')])
    await claim.undo({ dns: { records: RECORDS } })
    expect(server.served()).toEqual([])
  })

  test('is undone by another process, which reads from the journal how long to wait', async () => {
    const crashed = processOf()
    await heldAfterCheck(crashed.claim.do, 'queued')
    const { claim } = processOf(crashed.journal.image)
    const undoing = claim.undo()
    undoing.catch(() => undefined)
    await expect.poll(() => server.held()).toBeGreaterThan(1)
    server.release()
    await undoing
    expect(server.served()).toEqual([])
  })

  test('is awaited by an undo whose own removal was interrupted', async () => {
    const crashed = processOf()
    await crashed.claim.do()
    await heldAfterCheck(() => crashed.claim.undo({ dns: { records: RECORDS } }), 'queued')
    const { claim } = processOf(crashed.journal.image)
    const undoing = claim.undo({ dns: { records: RECORDS } })
    await expect.poll(() => server.held()).toBeGreaterThan(1)
    server.release()
    await undoing
    expect(server.served()).toEqual([])
  })

  test('is found by a removal, which then is done', async () => {
    await processOf().claim.do()
    const { release } = processOf()
    const [releasing] = await heldAfterCheck(release.do, 'queued')
    await holds(2)
    server.release()
    await expect(releasing).resolves.toEqual({ records: RECORDS })
    expect(server.served()).toEqual([])
  })
})

describe('an update that the server reads too late', () => {
  test('is refused by it, so a claim changed nothing', async () => {
    const { claim } = processOf()
    const [claiming] = await heldAfterCheck(claim.do, 'unread')
    await holds(2)
    server.release()
    await expect(claiming).rejects.toMatchObject({ untouched: true })
    expect(server.served()).toEqual([])
  })

  test('by its own clock: one that is behind ours is waited for', async () => {
    serverAheadMs = -5_000
    const { claim } = processOf()
    server.hold('unread changes')
    const claiming = claim.do()
    await holds(1)
    await clock.advance(10_000)
    // It is at the second 5 of the 6 for which the update was signed, and says so.
    await expect.poll(() => server.rehearsed()).toBe(2)
    server.release()
    await clock.advance(2_000)
    await expect(claiming).resolves.toEqual({ records: RECORDS })
    expect(server.served()).toEqual(BOTH)
  })
})

test('a server that is stalled before an update is sent gets none', async () => {
  const { claim } = processOf()
  const [claiming] = await stalled(claim.do, 'queued')
  await expect(claiming).rejects.toMatchObject({ untouched: true, message: expect.stringContaining('No record was') })
  server.release()
  expect(server.served()).toEqual([])
})

test.each([
  ['an hour behind', -3_600_000, /is 3600 s ahead of that of the DNS server/],
  ['20 s ahead', 20_000, /is 20 s behind that of the DNS server/],
])('a server whose clock is %s gets no update, and the reason is told', async (_, ms, told) => {
  serverAheadMs = ms
  await expect(processOf().claim.do()).rejects.toMatchObject({ untouched: true, message: expect.stringMatching(told) })
  expect(server.served()).toEqual([])
})

test('the wait for a server that answers no update ends', async () => {
  const { claim, provider } = processOf()
  await claim.do()
  server.hold('queued')
  const settling = provider.settle(Math.floor(clock.now() / 1000))
  settling.catch(() => undefined)
  await clock.advanceUntil(settling.catch(() => undefined))
  await expect(settling).rejects.toMatchObject({ kind: 'unknown', message: expect.stringContaining('after 45 s') })
})
