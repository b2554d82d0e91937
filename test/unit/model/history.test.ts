import { describe, expect, test } from 'vitest'
import {
  addCheck,
  type History,
  historyText,
  latenciesOf,
  NO_HISTORY,
  parseHistory,
  stripOf,
  uptimeOf,
} from '../../../src/model/history.ts'

const HALF_HOUR = 1_800_000
const START = 1_000_000 * HALF_HOUR
const after = (history: History, halfHours: number, ...oks: boolean[]): History =>
  oks.reduce(
    (so, ok, i) => addCheck(so, { at: START + halfHours * HALF_HOUR + i, ok, latencyMs: ok ? i : null }),
    history,
  )
const at = (halfHours: number) => START + halfHours * HALF_HOUR

describe('the history of a host', () => {
  test('is unknown before the first check', () => {
    expect(stripOf(NO_HISTORY, at(0))).toBe('-'.repeat(48))
    expect(uptimeOf(NO_HISTORY, at(0))).toBeNull()
  })

  test('shows each half hour, oldest first, nine only for a whole one', () => {
    let history = after(NO_HISTORY, 0, true, true)
    history = after(history, 1, true, false)
    history = after(history, 3, false)
    history = after(history, 4, ...Array(19).fill(true), false)
    expect(stripOf(history, at(4))).toBe(`${'-'.repeat(43)}95-08`)
    expect(uptimeOf(history, at(4))).toBe(Math.round((22 / 25) * 10_000) / 10_000)
  })

  test('moves on while nothing is checked, and forgets after a day', () => {
    const history = after(NO_HISTORY, 0, true)
    expect(stripOf(history, at(10))).toBe(`${'-'.repeat(37)}9${'-'.repeat(10)}`)
    expect(stripOf(history, at(47))).toBe(`9${'-'.repeat(47)}`)
    expect(uptimeOf(history, at(48))).toBeNull()
    expect(stripOf(after(history, 48, false), at(48))).toBe(`${'-'.repeat(47)}0`)
    expect(stripOf(after(history, 1_000, false), at(1_000))).toBe(`${'-'.repeat(47)}0`)
  })

  test('of a clock that steps back is counted where it stands', () => {
    const history = after(after(NO_HISTORY, 5, true), 0, false)
    expect(stripOf(history, at(0))).toBe(`${'-'.repeat(47)}5`)
  })

  test('keeps the newest 24 latencies and leaves what it was made from as it was', () => {
    const many = after(NO_HISTORY, 0, ...Array(30).fill(true))
    expect(latenciesOf(many)).toEqual(Array.from({ length: 24 }, (_, i) => i + 6))
    expect(uptimeOf(NO_HISTORY, at(0))).toBeNull()
  })

  test('is the same after it was kept', () => {
    const history = after(NO_HISTORY, 3, true, false)
    expect(parseHistory(historyText(history))).toEqual(history)
  })
})
