import { expect, test } from 'vitest'
import type { AuditEntry } from '../../../src/model/audit.ts'
import type { NewEvent } from '../../../src/model/event.ts'
import type { Mute } from '../../../src/model/host-status.ts'
import { Board, type BoardChange } from '../../../src/monitor/board.ts'
import { eventsBetween } from '../../../src/monitor/host-events.ts'
import { Mutes } from '../../../src/monitor/mutes.ts'
import { sampleStatus } from '../../support/http/host-status.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

const HOST = sampleStatus().host
const BY_HAND: Mute = { since: 1_000, until: 61_000, by: '192.168.45.10', note: 'moves' }
const CONFIGURED: Mute = { since: null, until: null, by: 'configuration' }

function bench(configured: ReadonlyMap<string, Mute> = new Map()) {
  const board = new Board()
  board.put(sampleStatus())
  const stored = new Map<string, Mute>()
  const events: NewEvent[] = []
  const audit: AuditEntry[] = []
  const changes: BoardChange[] = []
  board.listen((change) => changes.push(change))
  const clock = new VirtualClock(2_000)
  const session = {
    deleteMute: async (host: string, endedBy = 0) => (stored.get(host)?.until ?? 0) <= endedBy && stored.delete(host),
    appendEvent: async (event: NewEvent) => void events.push(event),
    appendAudit: async (entry: AuditEntry) => void audit.push(entry),
  }
  const judged: string[] = []
  const mutes = new Mutes({
    store: { readMutes: async () => new Map(stored), transaction: async (work) => work(session as never) },
    board,
    configured: () => configured,
    onChange: (hosts) => judged.push(...hosts),
    clock,
  })
  return { board, stored, events, audit, changes, clock, judged, mutes }
}

test('a mute is on the board, in every later status, and told to open lists', async () => {
  const { board, stored, changes, judged, mutes } = bench()
  stored.set(HOST, BY_HAND)
  stored.set('nobody.lab.test', BY_HAND)
  const { revision } = board
  await mutes.load()
  expect(board.find(HOST)?.mute).toEqual(BY_HAND)
  expect(board.revision).toBeGreaterThan(revision)
  expect(changes).toMatchObject([{ kind: 'row', status: { host: HOST, mute: BY_HAND } }])
  expect(judged).toEqual([HOST])
  board.put(sampleStatus({ badge: 'DOWN' }))
  expect(board.find(HOST)).toMatchObject({ badge: 'DOWN', mute: BY_HAND })
  stored.delete(HOST)
  await mutes.load()
  expect(board.find(HOST)).not.toHaveProperty('mute')
  expect(judged).toEqual([HOST, HOST])
})

test('who is told of the end of a mute does not read the mute any more', async () => {
  const { board, stored, clock, events, mutes } = bench()
  stored.set(HOST, BY_HAND)
  await mutes.load()
  await clock.advance(59_000)
  const shown: unknown[] = []
  events.push = () => shown.push(board.find(HOST)?.mute)
  await mutes.load()
  expect(shown).toEqual([undefined])
})

test('a host that appears later is muted, too', async () => {
  const { board, stored, mutes } = bench()
  stored.set('new.lab.test', BY_HAND)
  await mutes.load()
  board.put(sampleStatus({ host: 'new.lab.test' }))
  expect(board.find('new.lab.test')?.mute).toEqual(BY_HAND)
})

test('a mute ends by itself, once, with an event and a line in the audit', async () => {
  const { board, stored, events, audit, clock, mutes } = bench()
  stored.set(HOST, BY_HAND)
  await mutes.load()
  await clock.advance(58_999)
  await mutes.load()
  expect(board.isMuted(HOST)).toBe(true)
  await clock.advance(1)
  await mutes.load()
  await mutes.load()
  expect(board.isMuted(HOST)).toBe(false)
  const facts = { ended: true, actor: 'drawbridge' }
  expect(events).toEqual([{ at: 61_000, type: 'host.unmuted', host: HOST, facts }])
  expect(audit).toMatchObject([{ actor: 'drawbridge', network: 'self', action: 'unmute', host: HOST }])
})

test('one of the configuration stands behind one by hand, and is read with the next reload', async () => {
  const configured = new Map([[HOST, CONFIGURED]])
  const { board, stored, mutes } = bench(configured)
  stored.set(HOST, BY_HAND)
  await mutes.load()
  expect(board.find(HOST)?.mute).toEqual(BY_HAND)
  stored.clear()
  await mutes.load()
  expect(board.find(HOST)?.mute).toEqual(CONFIGURED)
  configured.clear()
  await mutes.load()
  expect(board.isMuted(HOST)).toBe(false)
})

test('the store is asked at most once a second', async () => {
  const { board, stored, clock, mutes } = bench()
  await mutes.refresh()
  stored.set(HOST, BY_HAND)
  await clock.advance(999)
  await mutes.refresh()
  expect(board.isMuted(HOST)).toBe(false)
  await clock.advance(1)
  await mutes.refresh()
  expect(board.isMuted(HOST)).toBe(true)
})

test('the store is asked also while the clock is set back', async () => {
  const { board, stored, clock, mutes } = bench()
  await mutes.refresh()
  stored.set(HOST, BY_HAND)
  clock.setBack(7_200_000)
  await clock.advance(1_000)
  await mutes.refresh()
  expect(board.isMuted(HOST)).toBe(true)
})

test('events of a muted host say so, which keeps webhooks silent', () => {
  const before = sampleStatus({ badge: 'RUNNING' })
  const certificate = { notBefore: 0, notAfter: 9, level: 'expired', forHost: true } as const
  const after = { ...before, badge: 'DOWN', fullCheck: { ...before.fullCheck, certificate } } as const
  const mutedIn = (mute?: Mute) =>
    eventsBetween(before, mute ? { ...after, mute } : after, 1).map(({ type, facts }) => `${type} ${facts.muted}`)
  expect(mutedIn(BY_HAND)).toEqual(['host.badge true', 'certificate.expired true'])
  expect(mutedIn()).toEqual(['host.badge undefined', 'certificate.expired undefined'])
})
