import { expect, test } from 'vitest'
import { lookAtWorld, type RebuildParts } from '../../../src/operate/keep/rebuild.ts'
import type { FoundEntry } from '../../../src/operate/keep/rebuilt-exposure.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const entry = (host: string, epoch: number, store?: string, edge = '23'): FoundEntry => ({
  ...{ host, edge, record: undefined, certificate: undefined, epoch, store, number: 1 },
})
const parts = (entries: readonly FoundEntry[], storeId?: string, onSecondary: readonly FoundEntry[] = []) => {
  const found = { lists: [entries, onSecondary], silent: [] }
  return { entries: async () => found, now: () => NOW, storeId: async () => storeId } as unknown as RebuildParts
}
const NOT_READ = expect.stringContaining('was edited, or another version wrote it')

// Row 38 of the threats: the newest epoch decides which hosts are this installation's own.
test('an epoch of the far future leaves its own host and no other', async () => {
  const world = parts([entry('a.lab.test', Number.MAX_SAFE_INTEGER), entry('b.lab.test', 5)])
  const { left } = await lookAtWorld(world, { otherEpochs: false, remembered: new Map() })
  expect(left).toMatchObject([
    { host: 'a.lab.test', reason: expect.stringContaining('ahead of the clock of this machine') },
    // This one was looked at.
    { host: 'b.lab.test', reason: expect.stringContaining('was edited, or another version wrote it') },
  ])
})

test('an empty store takes the id that the hosts of the newest epoch name, and leaves those of another', async () => {
  const entries = [entry('a.lab.test', 5, 'store_a'), entry('b.lab.test', 9, 'store_b'), entry('c.lab.test', 4)]
  const options = { otherEpochs: true, remembered: new Map() }
  const { left, store } = await lookAtWorld(parts(entries), options)
  expect(store).toBe('store_b')
  const handOver = expect.stringContaining('drawbridge edge hand-over store_a store_b')
  expect(left.map(({ reason }) => reason)).toEqual([handOver, NOT_READ, NOT_READ])
})

test('a store that has hosts keeps its id', async () => {
  const world = parts([entry('a.lab.test', 5, 'store_a'), entry('b.lab.test', 9, 'store_b')], 'store_a')
  const { left, store } = await lookAtWorld(world, { otherEpochs: true, remembered: new Map() })
  expect(store).toBe('store_a')
  expect(left.map(({ reason }) => reason)).toEqual([NOT_READ, expect.stringContaining('belongs to store store_b')])
})

test('a Secondary tells the store only where the Primary has no host', async () => {
  const lying = [entry('a.lab.test', NOW + 1, 'store_b', '73'), entry('b.lab.test', NOW + 1, 'store_b', '73')]
  const options = { otherEpochs: false, remembered: new Map() }
  const { left, store } = await lookAtWorld(parts([entry('a.lab.test', 5, 'store_a')], undefined, lying), options)
  expect(store).toBe('store_a')
  expect(left.map(({ reason }) => reason)).toEqual([NOT_READ, expect.stringContaining('belongs to store store_b')])
  const alone = await lookAtWorld(parts([], undefined, lying), options)
  expect(alone.store).toBe('store_b')
  expect(alone.left.map(({ reason }) => reason)).toEqual([NOT_READ, NOT_READ])
})

test('the epoch of another store leaves no host of one that has hosts', async () => {
  const world = parts([entry('a.lab.test', 5, 'store_a'), entry('b.lab.test', 9, 'store_b')], 'store_a')
  const { left } = await lookAtWorld(world, { otherEpochs: false, remembered: new Map() })
  expect(left.map(({ reason }) => reason)).toEqual([NOT_READ, expect.stringContaining('belongs to store store_b')])
})
