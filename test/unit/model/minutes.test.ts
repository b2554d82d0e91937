import { expect, test } from 'vitest'
import { Minutes } from '../../../src/model/history.ts'

const MINUTE = 60_000
const START = 1_000_000 * MINUTE

test('the last hour of a host by minutes counts the checks of each minute, and keeps the longest latency', () => {
  const minutes = new Minutes()
  minutes.add('a.test', { at: START, ok: true, latencyMs: 0 })
  minutes.add('a.test', { at: START + 30_000, ok: false, latencyMs: 7 })
  minutes.add('a.test', { at: START + MINUTE, ok: false, latencyMs: null })
  expect(minutes.of('a.test', START + MINUTE)).toEqual([
    { at: START, checks: 2, succeeded: 1, latencyMs: 7 },
    { at: START + MINUTE, checks: 1, succeeded: 0, latencyMs: null },
  ])
  expect(minutes.of('b.test', START)).toEqual([])
})

test('a minute is not taken for the one of an hour before, and hosts that are gone are forgotten', () => {
  const minutes = new Minutes()
  minutes.add('gone.test', { at: START, ok: true, latencyMs: 1 })
  minutes.add('a.test', { at: START, ok: true, latencyMs: 1 })
  minutes.add('a.test', { at: START + 60 * MINUTE, ok: true, latencyMs: 2 })
  const counted = { at: START + 60 * MINUTE, checks: 1, succeeded: 1, latencyMs: 2 }
  expect(minutes.of('a.test', counted.at)).toEqual([counted])
  expect(minutes.of('a.test', START + 200 * MINUTE)).toEqual([])
  minutes.add('a.test', { at: START + 300 * MINUTE, ok: true, latencyMs: 2 })
  expect(minutes.of('gone.test', START)).toEqual([])
})
