import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Change } from '../../../src/edge/contract/change.ts'
import { unsettledRuns } from '../../../src/edge/engine/unsettled.ts'
import type { UnsettledRun } from '../../../src/model/run.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { settleRuns } from '../../../src/runs/engine/settle-runs.ts'
import { changeHost, STORE } from '../../support/edge/edge.ts'
import { entryOf, startEngine, type TestEngine } from '../../support/edge/engine.ts'
import { nextTurn } from '../../support/stall.ts'
import { unreadable } from '../../support/unreadable.ts'

const HOST = 'shop.lab.test'
const RUN = { run: 'run_a1' }
const FLOOR = { store: STORE, epoch: 2 }
const DAY_MS = 86_400_000

let at: TestEngine
let now = systemClock.now()
const forgotten: UnsettledRun[] = []
beforeEach(async () => {
  forgotten.length = 0
  const clock = { ...systemClock, now: () => now }
  at = await startEngine({ clock, onForgottenRuns: (runs) => void forgotten.push(...runs) })
})
afterEach(() => at[Symbol.dispose]())

/** The host as it was applied, and then as the run leaves it. */
async function changedBy({ run }: typeof RUN): Promise<() => boolean> {
  await at.place(entryOf(HOST, 1))
  const before = at.present.number ?? 0
  await at.place(entryOf(HOST, 2), { run })
  return () => at.present.isKept(before)
}
const otherChanges = async (count: number) => {
  for (let port = 10; port < 10 + count; port += 1) await at.place(entryOf('other.lab.test', port))
}

test('what stood before an unsettled run is kept, however many changes follow', async () => {
  const canBePutBack = await changedBy(RUN)
  await otherChanges(55)
  expect(canBePutBack()).toBe(true)
  expect(unsettledRuns(at.folder)).toMatchObject([RUN])
  await changeHost(at.engine, HOST, 'before', RUN)
  expect(at.present.find(HOST)?.entry).toEqual(entryOf(HOST, 1))
  await at.engine.change({ items: [], settles: [RUN.run, 'run_unknown'], floor: FLOOR })
  expect(unsettledRuns(at.folder)).toEqual([])
  await otherChanges(2)
  await expect.poll(canBePutBack).toBe(false)
  expect(forgotten).toEqual([])
}, 60_000)

test('the state before an unsettled run is dropped after a month, with a notice', async () => {
  const canBePutBack = await changedBy(RUN)
  now += 31 * DAY_MS
  await otherChanges(52)
  await expect.poll(canBePutBack).toBe(false)
  expect(forgotten).toMatchObject([RUN])
}, 60_000)

test('a run is noted once for each generation, beside those of others, and a line that a crash cut off counts for nothing', async () => {
  await at.place(entryOf(HOST, 1), RUN)
  const file = join(at.folder, 'generations', '1', '.runs')
  expect(existsSync(file)).toBe(true)
  appendFileSync(file, 'run_cut store_a 12')
  const other = 'run_b2'
  await Promise.all([at.place(entryOf(HOST, 2), RUN), at.place(entryOf('wiki.lab.test', 2), { run: other })])
  expect(unsettledRuns(at.folder).map(({ run }) => run)).toEqual(['run_a1', 'run_b2'])
  expect(readFileSync(file, 'utf8').match(/run_a1/g)).toHaveLength(1)
})

test('a run that changes the edge while others are settled can be undone', async () => {
  await at.place(entryOf(HOST, 1))
  // It finds what it wants: what stands now is what stands before the change of the next run, too.
  const ended = 'run_ended'
  await at.place(entryOf(HOST, 1), { run: ended })
  let changing: Promise<void> | undefined
  const change = async () => {
    // An engine that is free now makes the whole change before the file is replaced.
    const isFree = await Promise.race([at.engine.afterwards(async () => true), nextTurn().then(() => false)])
    changing = at.place(entryOf(HOST, 2), RUN)
    if (isFree) await changing
  }
  await beforeRunsAreReplaced(change, () => at.engine.change({ items: [], settles: [ended], floor: FLOOR }))
  await changing
  expect(unsettledRuns(at.folder)).toMatchObject([RUN])
  await changeHost(at.engine, HOST, 'before', RUN)
  expect(at.present.find(HOST)?.entry).toEqual(entryOf(HOST, 1))
})

/** Does `first` when `work` has decided what the file of unsettled runs shall be, and has not replaced it yet. */
async function beforeRunsAreReplaced(first: () => Promise<void>, work: () => Promise<unknown>): Promise<void> {
  const { rename } = promises
  const set = (call: typeof rename) => {
    promises.rename = call
    syncBuiltinESMExports()
  }
  set(async (from, to) => {
    if (String(to).endsWith('/.runs')) await first()
    await rename(from, to)
  })
  await work().finally(() => set(rename))
}

test('an undo is refused while the generations cannot be listed', async () => {
  await changedBy(RUN)
  {
    using _ = unreadable((path) => path.endsWith('/generations'))
    await expect(changeHost(at.engine, HOST, 'before', RUN)).rejects.toMatchObject({ kind: 'write_failed' })
    expect(() => unsettledRuns(at.folder)).toThrow(`${at.folder}/generations could not be read or written (EACCES).`)
  }
  await changeHost(at.engine, HOST, 'before', RUN)
  expect(at.present.find(HOST)?.entry).toEqual(entryOf(HOST, 1))
})

test('neither a former store nor another one makes an edge forget what a run may have to put back', async () => {
  const canBePutBack = await changedBy(RUN)
  await at.engine.change({ items: [], floor: FLOOR })
  const settles = [RUN.run]
  await expect(at.engine.change({ items: [], settles, floor: { ...FLOOR, epoch: 1 } })).rejects.toMatchObject({
    kind: 'fenced',
  })
  await expect(at.engine.change({ items: [], settles })).rejects.toMatchObject({ kind: 'change_invalid' })
  await at.engine.change({ items: [], settles, floor: { store: 'store_other', epoch: 9 } })
  expect([unsettledRuns(at.folder).map(({ run }) => run), canBePutBack()]).toEqual([settles, true])
})

test('a service settles the runs of its own store that have ended, and no other', async () => {
  const settled: string[][] = []
  const known = [
    { run: 'run_ended', store: 'store_a', since: 1 },
    { run: 'run_blocked', store: 'store_a', since: 1 },
    { run: 'run_foreign', store: 'store_b', since: 1 },
  ]
  const edge = (unsettled: () => Promise<UnsettledRun[]>) => ({
    server: '23',
    unsettledRuns: unsettled,
    change: async ({ items, settles = [], floor }: Change) => {
      expect([items, floor]).toEqual([[], { store: 'store_a', epoch: 7 }])
      settled.push([...settles])
      return []
    },
  })
  const store = {
    storeId: async () => 'store_a',
    epoch: async () => 7,
    unsettledRunIds: async () => ['run_blocked', 'run_new'],
  }
  const away = edge(() => Promise.reject(new Error('away')))
  await settleRuns({ edges: [away, edge(async () => known)], store })
  expect(settled).toEqual([['run_ended']])
})
