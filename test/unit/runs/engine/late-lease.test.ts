import { expect, test } from 'vitest'
import { systemClock } from '../../../../src/primitives/clock.ts'
import { HeldLeases, LeaseLost } from '../../../../src/runs/engine/lease.ts'

const LIFE_MS = 3_000

/** A lease whose process was late: nothing has renewed it in its life. `owner`: whose it is in the store now. */
function lateHolder(owner: 'us' | 'another instance' | 'unknown') {
  const clock = { now: 0 }
  const lease = { name: 'host app.lab.test', holder: 'us', fence: 7, expiresAt: LIFE_MS }
  const store = {
    renewLeases: async () => {
      if (owner === 'unknown') throw new Error('The store does not answer.')
      return new Set(owner === 'us' ? [lease.name] : [])
    },
  }
  const held = new HeldLeases(store, [lease], LIFE_MS, {
    ...systemClock,
    now: () => clock.now,
    monotonic: () => clock.now,
  })
  clock.now = 5 * LIFE_MS
  return held
}

test('a lease that ran out while this process was late is kept if nobody has taken it', async () => {
  const held = lateHolder('us')
  expect(() => held.assertHeld()).toThrow(LeaseLost)
  await held.ensureHeld()
  held.assertHeld()
  expect(held.leftMs).toBe(LIFE_MS)
  held.stop()
})

test.each(['another instance', 'unknown'] as const)('it is lost if it belongs to %s', async (owner) => {
  const held = lateHolder(owner)
  await expect(held.ensureHeld()).rejects.toThrow(LeaseLost)
  held.stop()
})

test('a lease that was given up is not taken again', async () => {
  const held = lateHolder('us')
  held.stop()
  await expect(held.ensureHeld()).rejects.toThrow(LeaseLost)
})
