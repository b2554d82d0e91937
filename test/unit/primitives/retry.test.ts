import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/primitives/clock.ts'
import { isPaused, pauseAfter, poll, retry } from '../../../src/primitives/retry.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

test('pauses grow by their factor up to the longest', () => {
  const pauses = { firstMs: 100, factor: 2, longestMs: 500 }
  expect([1, 2, 3, 4, 2_000].map((tries) => pauseAfter(tries, pauses))).toEqual([100, 200, 400, 500, 500])
})

test('pauses are equal without a factor, and spread by chance', () => {
  expect([1, 9].map((tries) => pauseAfter(tries, { firstMs: 7 }))).toEqual([7, 7])
  expect([0, 0.5, 1].map((chance) => pauseAfter(1, { firstMs: 100, spread: 0.2 }, chance))).toEqual([80, 100, 120])
})

test('a pause is under way until its end, unless a clock noted it that was ahead', () => {
  expect([9, 10, 11, 20, 21].map((until) => isPaused(until, 10, 10))).toEqual([false, false, true, true, false])
})

describe('poll', () => {
  test('stops as soon as it found enough', async () => {
    const looks: number[] = []
    const found = await poll(
      (attempt) => looks.push(attempt),
      (count) => count === 3,
      { firstMs: 1, tries: 10, clock: systemClock },
    )
    expect([found, looks]).toEqual([3, [1, 2, 3]])
  })

  const counting = (limits: Partial<Parameters<typeof poll>[2]>) => {
    const never = () => false
    return poll((attempt) => attempt, never, { firstMs: 1, clock: systemClock, ...limits })
  }

  test('gives what it found last when the tries are used up', async () => expect(await counting({ tries: 4 })).toBe(4))

  test('begins no pause that would end after its time', async () =>
    expect(await counting({ firstMs: 60_000, withinMs: 50 })).toBe(1))

  test('waits as long as what was found asks for', async () =>
    expect(await counting({ withinMs: 50, atLeastMs: () => 60_000 })).toBe(1))
})

test('the pauses pass on the clock of the caller, and end with its time', async () => {
  const clock = new VirtualClock(0)
  const times: number[] = []
  const looking = poll(
    () => times.push(clock.now()),
    () => false,
    { firstMs: 1_000, factor: 2, withinMs: 10_000, clock },
  )
  expect(await clock.advanceUntil(looking)).toBe(4)
  expect(times).toEqual([0, 1_000, 3_000, 7_000])
})

describe('retry', () => {
  const failing = (times: number, error: Error) => {
    let calls = 0
    const work = async () => {
      calls += 1
      if (calls <= times) throw error
      return calls
    }
    return work
  }

  test('repeats what failed for a moment', async () =>
    expect(await retry(failing(2, new Error('busy')), () => true, { firstMs: 1, tries: 3, clock: systemClock })).toBe(
      3,
    ))

  test('rejects with the last error when the tries are used up', async () => {
    const last = new Error('busy')
    await expect(retry(failing(3, last), () => true, { firstMs: 1, tries: 3, clock: systemClock })).rejects.toBe(last)
  })

  test('does not repeat what fails for good', async () => {
    const work = failing(1, new Error('broken'))
    await expect(retry(work, () => false, { firstMs: 1, tries: 3, clock: systemClock })).rejects.toThrow('broken')
    expect(await work()).toBe(2)
  })
})
