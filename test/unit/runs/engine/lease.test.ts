import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemClock } from '../../../../src/primitives/clock.ts'
import { CertificateLock } from '../../../../src/runs/engine/certificate-lock.ts'
import { HeldLeases } from '../../../../src/runs/engine/lease.ts'
import type { Lease } from '../../../../src/store/ports/leases.ts'

const LIFE_MS = 30_000
const BEGIN = 1_000_000

beforeEach(() => {
  vi.useFakeTimers({ now: BEGIN })
})
afterEach(() => {
  vi.useRealTimers()
})

const lease = (name: string, lifeMs = LIFE_MS): Lease => ({ name, holder: 'me', fence: 1, expiresAt: BEGIN + lifeMs })
const [A, B] = [lease('a'), lease('b', LIFE_MS / 2)]

/** The store renews the leases of these names. Without a list it does not answer. */
const held = (leases: readonly Lease[], renews?: readonly string[]) => {
  const renewLeases = async () => {
    if (renews) return new Set(renews)
    throw new Error('The store does not answer.')
  }
  return new HeldLeases({ renewLeases }, leases, LIFE_MS, systemClock)
}

test('leases are held until the first of them ends, and not longer', () => {
  const both = held([A, B])
  expect(both.leftMs).toBe(LIFE_MS / 2)
  vi.setSystemTime(BEGIN + LIFE_MS / 2 - 1)
  both.assertHeld()
  vi.setSystemTime(BEGIN + LIFE_MS / 2)
  expect(() => both.assertHeld()).toThrow('The lease of b was lost.')
  expect(both.leftMs).toBe(0)
  both.stop()
})

test('they are held no longer because the clock was set back', async () => {
  const one = held([A])
  vi.setSystemTime(BEGIN - 3_600_000)
  await vi.advanceTimersByTimeAsync(LIFE_MS - 1)
  one.assertHeld()
  await vi.advanceTimersByTimeAsync(1)
  expect(() => one.assertHeld()).toThrow('The lease of a was lost.')
  expect(one.leftMs).toBe(0)
  one.stop()
})

test('they are renewed while their holder works', async () => {
  const one = held([A], ['a'])
  await vi.advanceTimersByTimeAsync(3 * LIFE_MS)
  one.assertHeld()
  expect(one.leftMs).toBe(LIFE_MS)
  one.stop()
})

test('one that the store does not renew is lost at once', async () => {
  const both = held([A, lease('c')], ['a'])
  await vi.advanceTimersByTimeAsync(LIFE_MS / 4)
  expect(() => both.assertHeld()).toThrow('The lease of c was lost.')
  both.stop()
})

test('nothing is held after the end of the work', () => {
  const one = held([A], ['a'])
  one.stop()
  expect(() => one.assertHeld()).toThrow('The lease of a was lost.')
})

test('a renewal that is answered after the end of the work holds nothing again', async () => {
  const answer = Promise.withResolvers<ReadonlySet<string>>()
  const one = new HeldLeases({ renewLeases: () => answer.promise }, [A], LIFE_MS, systemClock)
  await vi.advanceTimersByTimeAsync(LIFE_MS / 4)
  one.stop()
  answer.resolve(new Set(['a']))
  await vi.advanceTimersByTimeAsync(0)
  expect(() => one.assertHeld()).toThrow('The lease of a was lost.')
  expect(one.leftMs).toBe(0)
})

test('the lock of a certificate is held during the work, and not renewed after it', async () => {
  const calls: string[] = []
  const lock = new CertificateLock(
    {
      takeLease: async (name) => lease(name),
      takeLeases: async (names) => names.map((name) => lease(name)),
      findLease: async () => undefined,
      lastFences: async () => new Map(),
      raiseLastFences: async () => undefined,
      renewLeases: async (leases) => {
        calls.push('renew')
        return new Set(leases.map(({ name }) => name))
      },
      releaseLeases: async () => undefined,
      releaseLease: async ({ name }) => void calls.push(`release ${name}`),
    },
    'me',
    LIFE_MS,
    systemClock,
  )
  await lock.hold(['a.lab.test', 'b.lab.test'], async () => void calls.push('work'))
  await vi.advanceTimersByTimeAsync(LIFE_MS)
  expect(calls).toEqual(['work', 'release certificate:a.lab.test,b.lab.test'])
})
