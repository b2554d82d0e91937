import { expect, test } from 'vitest'
import { fitLine, median, percentile, roundsOf, summarize } from '../../../bench/measure.ts'
import { fc, forAll } from '../../support/fast-check.ts'

test('the spread of a hundred values', () => {
  const values = Array.from({ length: 100 }, (_, i) => 100 - i)
  expect(summarize(values)).toEqual({ count: 100, min: 1, p50: 50, p90: 90, p99: 99, max: 100 })
})

test('every percentile is a value that was measured', () => {
  const values = fc.array(fc.integer(), { minLength: 1 })
  forAll(values, fc.double({ min: 0, max: 1, noNaN: true }), (measured, share) => {
    const sorted = measured.toSorted((a, b) => a - b)
    return measured.includes(percentile(sorted, share))
  })
})

test('without values there is no figure', () => expect(median([])).toBeNaN())

test('rounds begin with the warm-up', () => expect([...roundsOf({ rounds: 2, warmUp: 1 })]).toEqual([-1, 0, 1]))

test('when the time is over, one round counts all the same', () =>
  expect([...roundsOf({ rounds: 5, warmUp: 2, mostMs: -1 })]).toEqual([0]))

test('a line is found in points that lie on it', () => {
  const points = [100, 1_000, 10_000].map((x) => ({ x, y: 50 + 0.25 * x }))
  const { a, b } = fitLine(points)
  expect([a, b]).toEqual([expect.closeTo(50, 6), expect.closeTo(0.25, 9)])
})

test('a small size counts as much as a large one', () => {
  const points = Object.entries({ 100: 10, 1000: 19, 10000: 150 }).map(([x, y]) => ({ x: Number(x), y }))
  const { a, b } = fitLine(points)
  expect(Math.abs(a + b * 100 - 10) / 10).toBeLessThan(0.1)
})
