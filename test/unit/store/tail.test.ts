import { expect, test } from 'vitest'
import { Tail } from '../../../src/store/tail.ts'

/** A table that only grows. */
function table(rows: number, pruned = 0) {
  const all = Array.from({ length: rows }, (_, i) => ({ seq: i + 1 })).slice(pruned)
  let skipped = 0
  return {
    skip: (count: number) => {
      skipped = count
    },
    grow: (count: number) => {
      const last = (all.at(-1)?.seq ?? 0) + skipped
      skipped = 0
      all.push(...Array.from({ length: count }, (_, i) => ({ seq: last + i + 1 })))
    },
    newest: async (limit: number) => all.slice(-limit),
    read: async (after: number, limit: number) => all.filter(({ seq }) => seq > after).slice(0, limit),
  }
}

const seqs = (rows: readonly { seq: number }[] | undefined) => rows?.map(({ seq }) => seq)

test('remembers the newest rows and says so where older ones are asked for', async () => {
  const { newest, read, grow } = table(1_000)
  const tail = new Tail<{ seq: number }>(5)
  expect(tail.after(0, 10)).toBeUndefined()
  expect(await tail.readOn(newest, read)).toEqual([])
  expect(seqs(tail.after(995, 10))).toEqual([996, 997, 998, 999, 1_000])
  expect(seqs(tail.after(995, 2))).toEqual([996, 997])
  expect(seqs(tail.after(1_000, 2))).toEqual([])
  expect(tail.after(994, 10)).toBeUndefined()
  grow(3)
  expect(seqs(await tail.readOn(newest, read))).toEqual([1_001, 1_002, 1_003])
  expect(tail.after(997, 10)).toBeUndefined()
  expect(seqs(tail.after(998, 10))).toEqual([999, 1_000, 1_001, 1_002, 1_003])
})

test('misses none of more rows than one page, and nothing that was pruned', async () => {
  const { newest, read, grow } = table(10, 8)
  const tail = new Tail<{ seq: number }>(500)
  await tail.readOn(newest, read)
  expect(seqs(tail.after(0, 10))).toEqual([9, 10])
  grow(450)
  expect(await tail.readOn(newest, read)).toHaveLength(450)
  expect(tail.after(0, 1_000)).toHaveLength(452)
})

test('remembers the newest rows before one, across a gap in the numbers, and says so where older ones are asked for', async () => {
  const { newest, read, skip, grow } = table(3)
  skip(10_000)
  grow(2)
  const tail = new Tail<{ seq: number }>(4)
  expect(tail.before(4, 2)).toBeUndefined()
  await tail.readOn(newest, read)
  expect(seqs(tail.before(10_005, 3))).toEqual([2, 3, 10_004])
  expect(seqs(tail.before(4, 2))).toEqual([2, 3])
  expect(tail.before(3, 3)).toBeUndefined()
  const whole = new Tail<{ seq: number }>(6)
  await whole.readOn(newest, read)
  expect(seqs(whole.before(3, 3))).toEqual([1, 2])
  expect(seqs(whole.after(0, 3))).toEqual([1, 2, 3])
})
