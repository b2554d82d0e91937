import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { entryOf, startEngine, type TestEngine } from '../../support/edge/engine.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

let at: TestEngine
let clock: VirtualClock
/** Holds every test until it is let go. */
let gate: PromiseWithResolvers<void>
beforeEach(async () => {
  gate = Promise.withResolvers()
  gate.resolve()
  clock = new VirtualClock()
  at = await startEngine({
    clock,
    test: async () => {
      await gate.promise
      return undefined
    },
  })
})
afterEach(() => at[Symbol.dispose]())

const [A, B] = [entryOf('a.lab.test'), entryOf('b.lab.test')]
const content = (host: string) => at.present.content(`entries/${host}`)

describe('what is tried out', () => {
  test('is one change of many at the same time: only one is tested ahead', async () => {
    const changes = Array.from({ length: 20 }, (_, i) => entryOf(`h${i}.lab.test`))
    await Promise.all(changes.map((file) => at.engine.tryOut([file])))
    expect(at.counts.tests).toBe(1)
    await Promise.all(changes.map((file) => at.change([file])))
    // The first alone, as it was tried out. The others together.
    expect(at.counts).toEqual({ tests: 2, reloads: 2 })
  })

  test('is not tested again when the change is the same', async () => {
    await at.engine.tryOut([A])
    await at.change([A])
    expect(at.counts).toEqual({ tests: 1, reloads: 1 })
    expect(content('a.lab.test')).toBe(A.content)
  })

  test('is tested when the change differs, and nothing of what was tried stays', async () => {
    await at.engine.tryOut([A])
    await at.change([B])
    expect(at.counts.tests).toBe(2)
    expect([content('a.lab.test'), content('b.lab.test')]).toEqual([null, B.content])
    await expect.poll(at.generations).toHaveLength(2)
  })

  test('is tested again when another change came between, and for a while nothing is tried out then', async () => {
    await at.engine.tryOut([A])
    await at.change([B])
    await at.change([A])
    expect(at.counts.tests).toBe(3)
    await at.engine.tryOut([entryOf('c.lab.test')])
    expect(at.counts.tests).toBe(3)
  })

  test('is tested again when the change also mends', async () => {
    await at.engine.tryOut([A])
    const expected = [{ path: A.path, hash: null }]
    await at.change([A], { propose: async () => ({ files: [A], expected, replacesLinks: true }) })
    expect(at.counts.tests).toBe(2)
  })

  test('is waited for when the change comes before its test has ended', async () => {
    gate = Promise.withResolvers()
    await at.engine.tryOut([A])
    const changed = at.change([A])
    gate.resolve()
    await changed
    expect(at.counts.tests).toBe(1)
  })

  test('is removed from the disk when nobody proposes it', async () => {
    const before = at.generations()
    await at.engine.tryOut([A])
    expect(at.generations()).toHaveLength(before.length + 1)
    await at.engine.forgetAhead()
    expect(at.generations()).toEqual(before)
    await at.engine.tryOut([B])
    expect(at.counts.tests).toBe(2)
  })

  test('is removed from the disk by itself when whoever tried it says nothing any more', async () => {
    const before = at.generations()
    await at.engine.tryOut([A])
    await clock.advance(29_000)
    expect(at.generations()).toHaveLength(before.length + 1)
    await clock.advance(2_000)
    await expect.poll(at.generations).toEqual(before)
  })

  test('is nothing while a change is under way', async () => {
    gate = Promise.withResolvers()
    const changed = at.change([A])
    await at.engine.tryOut([B])
    gate.resolve()
    await changed
    expect(at.counts.tests).toBe(1)
  })

  test('says nothing when nginx refuses it: the change does', async () => {
    using refusing = await startEngine({ test: async () => undefined })
    await refusing.engine.tryOut([{ ...A, path: 'entries/../x' }])
    await refusing.change([B])
    expect(refusing.present.content(B.path)).toBe(B.content)
  })
})
