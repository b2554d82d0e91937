import { beforeEach, expect, test, vi } from 'vitest'
import type { EdgeAnswer } from '../../../../src/edge/contract/visit.ts'
import type { HostStatus } from '../../../../src/model/host-status.ts'
import { Board } from '../../../../src/monitor/board.ts'
import { DueHosts } from '../../../../src/monitor/rounds/due-hosts.ts'
import { Rounds, type RoundsParts } from '../../../../src/monitor/rounds/rounds.ts'
import { createLog } from '../../../../src/runtime/log.ts'
import { sampleStatus } from '../../../support/http/host-status.ts'
import { VirtualClock } from '../../../support/virtual-clock.ts'

const WELL: EdgeAnswer = { kind: 'answer', httpStatus: 200, latencyMs: 1 }
const EVERY_MS = 30_000
const TWO_HOURS_MS = 7_200_000

/** The visits that have begun, in order. Each ends when the test says. */
let visits: { readonly host: string; readonly full: boolean; readonly end: (answer: EdgeAnswer) => void }[]
let paused: Set<string>
let clock: VirtualClock
let board: Board
let rounds: Rounds

beforeEach(() => {
  visits = []
  paused = new Set()
  clock = new VirtualClock()
  board = new Board()
  const visit: RoundsParts['visitor']['visit'] = ({ host, full }) => {
    const { promise, resolve } = Promise.withResolvers<EdgeAnswer>()
    visits.push({ host, full, end: resolve })
    return promise
  }
  const parts = {
    // Each visit takes a millisecond to begin.
    ...{
      board,
      clock: { ...clock, monotonic: () => clock.monotonic() + visits.length },
      everyMs: EVERY_MS,
      atOnce: 8,
      log: createLog('silent', []),
      onCheck: () => undefined,
    },
    visitor: { visit, forget: () => undefined },
    watchList: { isPaused: (host: string) => paused.has(host), isBusy: async () => false, proofOf: () => undefined },
    writer: { put: (status: HostStatus) => board.put(status) },
    compare: async () => ({ dns: 'ours', file: 'unchanged' }),
  }
  rounds = new Rounds(parts as unknown as RoundsParts)
  for (const host of ['a.test', 'b.test']) board.put(checkedNow(host))
  rounds.begin()
})

/** A host that is well and was just checked fully, so that its next check is not due. */
const checkedNow = (host: string): HostStatus => {
  const at = clock.now()
  const lastCheck = { at, ok: true, httpStatus: 200, latencyMs: 1, reason: null }
  const fullCheck = { at, dns: 'ours', file: 'unchanged', certificate: null } as const
  return sampleStatus({ ...{ host, tls: false, badge: 'RUNNING', since: at, lastCheck, fullCheck } })
}

const asked = () => visits.map(({ host, full }) => `${host} ${full}`)
const result = () => round.result((host) => board.find(host))
let round: ReturnType<Rounds['checkAll']>

/** What the monitor does with a request, up to the first checks. */
function checkAll(): void {
  round = rounds.checkAll()
  rounds.begin()
}

async function endAll(answer: EdgeAnswer): Promise<void> {
  for (const { end } of visits) end(answer)
  await clock.turn()
  rounds.begin()
}

test('a request checks every host fully, although none is due, and tells whose badge changed', async () => {
  expect(asked()).toEqual([])
  checkAll()
  expect(asked()).toEqual(['a.test true', 'b.test true'])
  visits[0]?.end({ kind: 'no_answer', reason: 'refused' })
  await clock.turn()
  expect(round.isOver).toBe(false)
  await endAll(WELL)
  expect(round.isOver).toBe(true)
  expect(result()).toEqual({ checked: 2, changed: [{ host: 'a.test', badge: 'DOWN' }], busy: [], failed: [] })
  expect(visits).toHaveLength(2)
})

test('a check that began before the request does not count: its host is checked once more', async () => {
  await clock.advance(2 * EVERY_MS)
  rounds.begin()
  expect(asked()).toEqual(['a.test false', 'b.test false'])
  checkAll()
  await endAll(WELL)
  expect([round.isOver, asked().slice(2)]).toEqual([false, ['a.test true', 'b.test true']])
  await endAll(WELL)
  expect([round.isOver, result().checked]).toEqual([true, 2])
})

test('a host that a run changes is left to the run, and one that goes away is not waited for', async () => {
  paused.add('a.test')
  checkAll()
  board.remove('b.test')
  await endAll(WELL)
  expect([round.isOver, result()]).toEqual([true, { checked: 0, changed: [], busy: ['a.test'], failed: [] }])
})

test('a check that fails is told', async () => {
  board.remove('b.test')
  checkAll()
  // As if the edge's answer could not be read at all.
  visits[0]?.end(undefined as unknown as EdgeAnswer)
  await endAll(WELL)
  expect(result()).toMatchObject({ checked: 0, failed: ['a.test'] })
})

test('a host whose turn comes while a run changes it has its check after the run', async () => {
  paused.add('a.test')
  await clock.advance(2 * EVERY_MS)
  rounds.begin()
  expect(asked()).toEqual(['b.test false'])
  paused.clear()
  await clock.advance(2_000)
  rounds.begin()
  expect(asked()).toEqual(['b.test false', 'a.test false'])
})

test('the checks go on when the clock is set back', async () => {
  await clock.advance(2 * EVERY_MS)
  rounds.begin()
  await endAll(WELL)
  const former = visits.length
  clock.setBack(TWO_HOURS_MS)
  for (const _period of ['first', 'second']) {
    await clock.advance(EVERY_MS)
    rounds.begin()
    await endAll(WELL)
  }
  expect(new Set(asked().slice(former))).toEqual(new Set(['a.test true', 'b.test true']))
})

test('a host whose last check is in the future, by the clock of another instance, is checked within two periods', async () => {
  const at = clock.now() + TWO_HOURS_MS
  const early = checkedNow('early.test')
  const lastCheck = early.lastCheck && { ...early.lastCheck, at }
  board.put({ ...early, since: at, lastCheck, fullCheck: { ...early.fullCheck, at } })
  rounds.begin()
  expect(asked()).toEqual([])
  await clock.advance(2 * EVERY_MS)
  rounds.begin()
  expect(asked()).toContain('early.test true')
})

test('hosts that nothing can ask are placed once, however often others come', () => {
  const gap = { ...checkedNow('gap.test'), listenGap: 'quic' } as const
  const { at: _at, ...unproven } = gap.fullCheck
  board.put({ ...gap, fullCheck: { ...unproven, at: null } })
  rounds.begin()
  const set = vi.spyOn(DueHosts.prototype, 'set')
  board.put(checkedNow('c.test'))
  rounds.begin()
  expect(set.mock.calls.map(([host]) => host)).toEqual(['c.test'])
  set.mockRestore()
})

test('many checks are begun in slices, so that other work goes on between them', async () => {
  for (const host of ['c.test', 'd.test', 'e.test', 'f.test', 'g.test', 'h.test']) board.put(checkedNow(host))
  round = rounds.checkAll()
  const begun = rounds.begin()
  expect(visits).toHaveLength(5)
  await begun
  expect(visits).toHaveLength(8)
})
