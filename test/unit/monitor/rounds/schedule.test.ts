import { describe, expect, test } from 'vitest'
import { isFullCheckDue, nextCheck } from '../../../../src/monitor/rounds/schedule.ts'

const EVERY = 30_000
const NOW = 1_790_000_000_000
const next = (host: string, checkedAt: number | null, failingSince: number | null = null) =>
  nextCheck({ host, checkedAt, failingSince }, EVERY)

describe('the next check', () => {
  test('of a host that was never checked is due at once', () => expect(next('a.lab.test', null)).toBe(0))

  test('comes once in every period, at the same moment of it', () => {
    let at = next('a.lab.test', NOW)
    expect(at - NOW).toBeGreaterThanOrEqual(EVERY / 2)
    expect(at - NOW).toBeLessThan(1.5 * EVERY)
    for (const late of [0, 1, 700, 5_000]) {
      const following = next('a.lab.test', at + late)
      expect(following - at).toBeCloseTo(EVERY, 3)
      at = following
    }
  })

  test('of many hosts that were checked at the same time is spread over the period', () => {
    const seconds = Array.from({ length: 3_000 }, (_, i) => Math.floor((next(`h${i}.lab.test`, NOW) - NOW) / 1_000))
    const perSecond = Object.values(Object.groupBy(seconds, (second) => second)).map((some) => some?.length ?? 0)
    expect(perSecond.length).toBeGreaterThanOrEqual(EVERY / 1_000)
    expect(Math.max(...perSecond)).toBeLessThan(200)
  })

  test('of a host that fails for ever longer is ever farther away, up to ten periods', () => {
    const PERIODS = { 0: 1, 9: 1, 10: 2, 20: 4, 40: 8, 80: 10, 100000: 10 }
    for (const [minutes, periods] of Object.entries(PERIODS)) {
      const first = next('a.lab.test', NOW, NOW - Number(minutes) * 60_000)
      expect(first - NOW, minutes).toBeLessThan(1.5 * periods * EVERY)
      expect(first - NOW, minutes).toBeGreaterThanOrEqual(0.5 * periods * EVERY)
    }
  })
})

test('the full check is taken at the first check, and while something that it found is wrong', () => {
  expect(isFullCheckDue('a.lab.test', null, false, NOW, EVERY)).toBe(true)
  expect(isFullCheckDue('a.lab.test', NOW - 1, true, NOW, EVERY)).toBe(true)
})

test('the full check is taken when the last one is in the future', () =>
  expect(isFullCheckDue('a.lab.test', NOW + 1, false, NOW, EVERY)).toBe(true))

test('the full check is otherwise taken about once in ten checks, not by all hosts at the same time', () => {
  const areDue = (elapsed: number) =>
    Array.from({ length: 1_000 }, (_, i) => isFullCheckDue(`h${i}.lab.test`, NOW - elapsed * EVERY, false, NOW, EVERY))
  expect(areDue(7).every((due) => !due)).toBe(true)
  expect(areDue(12).every((due) => due)).toBe(true)
  expect(areDue(10).filter((due) => due).length).toBeGreaterThan(300)
  expect(areDue(10).filter((due) => !due).length).toBeGreaterThan(300)
})
