import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { beforeEach, expect, test } from 'vitest'
import { Fences } from '../../../src/edge/fences/fences.ts'
import type { HostFence } from '../../../src/model/run.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { entryOf, startEngine } from '../../support/edge/engine.ts'
import { freshFolder } from '../../support/fresh.ts'

const at = freshFolder()
beforeEach(() => {
  for (const name of ['hosts', '.staging']) mkdirSync(at(name))
})

const [SHOP, WIKI] = ['shop.lab.test', 'wiki.lab.test']
const [OURS, OTHER] = ['store_a', 'store_b']
const fence = (host: string, epoch: number, number: number, store?: string): HostFence => ({
  ...{ host, epoch, number },
  ...(store !== undefined && { store }),
})
/** Always a reader that has read nothing yet, as after a start. */
const fences = (spareLines?: number) =>
  new Fences(at(), { ...systemClock, ...(spareLines !== undefined && { spareLines }) })
const claimed = (...given: HostFence[]) => fences().claim(given).record()
const written = () => readFileSync(at('.fences'), 'utf8')
const FORMER = { kind: 'fenced', message: expect.stringContaining('Stop the service of the former store.') }
const FOREIGN = { kind: 'fenced', message: expect.stringContaining('belongs to another store on this edge (store_a;') }

test('a former store changes no host any more when its copy has changed one', async () => {
  await claimed(fence(SHOP, 5, 9, OURS), fence(WIKI, 5, 9, OURS))
  await claimed(fence(SHOP, 7, 1, OURS))
  for (const host of [SHOP, WIKI, 'new.lab.test'])
    await expect(claimed(fence(host, 5, 10, OURS))).rejects.toMatchObject(FORMER)
  await claimed(fence(WIKI, 7, 1, OURS))
})

test('a copy that has only shown itself is enough, and the former one may not show itself again', async () => {
  await claimed(fence(SHOP, 5, 9, OURS))
  await fences().raiseFloor({ store: OURS, epoch: 7 })
  await fences().raiseFloor({ store: OURS, epoch: 7 })
  expect(written().match(/floor/g)).toHaveLength(1)
  await expect(claimed(fence(SHOP, 5, 10, OURS))).rejects.toMatchObject(FORMER)
  await expect(fences().raiseFloor({ store: OURS, epoch: 5 })).rejects.toMatchObject(FORMER)
  expect(fences().floors()).toEqual([{ store: OURS, epoch: 7 }])
  expect(fences().highestEpoch()).toBe(7)
})

test('a store touches no host of another one, however new it is, and changes its own beside it', async () => {
  await claimed(fence(SHOP, 5, 1, OURS))
  await expect(claimed(fence(SHOP, 9, 1, OTHER))).rejects.toMatchObject(FOREIGN)
  await claimed(fence(WIKI, 9, 1, OTHER))
  await claimed(fence(SHOP, 5, 2, OURS))
  await expect(claimed(fence(WIKI, 5, 3, OURS))).rejects.toMatchObject({ kind: 'fenced' })
  expect(fences().of([SHOP, WIKI])).toEqual([fence(SHOP, 5, 2, OURS), fence(WIKI, 9, 1, OTHER)])
})

test('of two stores that claim a new host at the same moment one has it', async () => {
  const outcomes = await Promise.allSettled([claimed(fence(SHOP, 5, 1, OURS)), claimed(fence(SHOP, 9, 1, OTHER))])
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  const [winner] = outcomes[0]?.status === 'fulfilled' ? [OURS] : [OTHER]
  expect(fences().of([SHOP])[0]?.store).toBe(winner)
})

test('a line of another store that comes later, as of a process that has looked before, takes no host away', async () => {
  await claimed(fence(SHOP, 5, 1, OURS))
  appendFileSync(at('.fences'), `\n9 1 ${SHOP} ${OTHER};\n`)
  expect(fences().of([SHOP])).toEqual([fence(SHOP, 5, 1, OURS)])
  await expect(claimed(fence(SHOP, 9, 1, OTHER))).rejects.toMatchObject(FOREIGN)
  await claimed(fence(SHOP, 5, 2, OURS))
})

test('what the file says of stores outlives its writing anew', async () => {
  await claimed(fence(SHOP, 5, 1, OURS), fence(WIKI, 5, 1, OURS))
  await fences().raiseFloor({ store: OURS, epoch: 7 })
  const many = fences(0)
  for (let number = 1; number < 30; number += 1) await many.claim([fence('b.lab.test', 6, number, OTHER)]).record()
  expect(written()).not.toContain('6 1 b.lab.test')
  await expect(claimed(fence(WIKI, 5, 2, OURS))).rejects.toMatchObject(FORMER)
  await expect(claimed(fence(SHOP, 8, 2, OTHER))).rejects.toMatchObject(FOREIGN)
  // Without an id it is known by its epoch.
  await expect(claimed(fence(WIKI, 5, 2))).rejects.toMatchObject(FORMER)
})

test('fences of an earlier version belong to the store whose epoch they name, as soon as it has shown itself', async () => {
  await claimed(fence(SHOP, 5, 3), fence(WIKI, 4, 1))
  await fences().raiseFloor({ store: OURS, epoch: 5 })
  await expect(claimed(fence(SHOP, 9, 1, OTHER))).rejects.toMatchObject(FOREIGN)
  await expect(claimed(fence(SHOP, 5, 2, OURS))).rejects.toMatchObject({
    message: expect.stringContaining('newer run'),
  })
  await claimed(fence(SHOP, 5, 4, OURS))
  // Nobody knows whose this was.
  await claimed(fence(WIKI, 9, 1, OTHER))
})

test('a host that was handed over belongs to the other store from its first number on', async () => {
  await claimed(fence(SHOP, 5, 8, OURS), fence(WIKI, 5, 8, OURS))
  expect(await fences().handOver(OURS, OTHER, [SHOP, 'unknown.lab.test'])).toEqual([SHOP])
  await expect(claimed(fence(SHOP, 5, 9, OURS))).rejects.toMatchObject({ kind: 'fenced' })
  await claimed(fence(SHOP, 2, 1, OTHER))
  await expect(claimed(fence(WIKI, 2, 1, OTHER))).rejects.toMatchObject(FOREIGN)
  expect(await fences().handOver(OURS, OTHER)).toEqual([WIKI])
  await claimed(fence(WIKI, 2, 1, OTHER))
  await expect(fences().handOver(OURS, 'Not An Id')).rejects.toThrow('is not the id of a store')
})

test('made-up stores do not fill the file', async () => {
  for (let i = 0; i < 100; i += 1)
    appendFileSync(
      at('.fences'),
      `${i === 0 ? '# Fences of a test, at least so long.\n' : ''}${i + 1} floor store_${i};\n`,
    )
  await expect(claimed(fence(SHOP, 500, 1, 'store_more'))).rejects.toMatchObject({ kind: 'change_invalid' })
  await expect(fences().raiseFloor({ store: 'store_more', epoch: 500 })).rejects.toMatchObject({
    kind: 'change_invalid',
  })
  await claimed(fence(SHOP, 500, 1, 'store_7'))
})

test('text that would run into a line is no store, and a floor of the far future is none', async () => {
  const now = systemClock.now()
  await expect(async () => claimed(fence(SHOP, 1, 1, 'a;\n1 9 wiki.lab.test'))).rejects.toThrow('is not a fence')
  await expect(fences().raiseFloor({ store: 'a b', epoch: 1 })).rejects.toThrow('is no floor')
  await expect(fences().raiseFloor({ store: OURS, epoch: now + 3 * 86_400_000 })).rejects.toMatchObject({
    kind: 'change_invalid',
  })
})

test('a change of a former store, or of a host of another one, enters no generation', async () => {
  using edge = await startEngine()
  const put = (host: string, port: number, given: HostFence) => edge.place(entryOf(host, port), { fence: given })
  await put(SHOP, 1, fence(SHOP, 5, 1, OURS))
  await put(WIKI, 1, fence(WIKI, 5, 1, OURS))
  await put(SHOP, 2, fence(SHOP, 7, 1, OURS))
  const { number } = edge.present
  await expect(put(WIKI, 3, fence(WIKI, 5, 2, OURS))).rejects.toMatchObject(FORMER)
  await expect(put(SHOP, 3, fence(SHOP, 9, 1, OTHER))).rejects.toMatchObject(FOREIGN)
  expect(edge.present.number).toBe(number)
})
