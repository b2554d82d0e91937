import { describe, expect, test } from 'vitest'
import {
  type AcmeLimits,
  type BudgetRules,
  backoffSeconds,
  bucketOf,
  judgeOrder,
  ledgerSince,
} from '../../../src/certificates/budget/budget.ts'
import type { OrderRequest } from '../../../src/certificates/contract.ts'
import { type AuthorityPause, type LedgerLine, nameSet } from '../../../src/model/ledger.ts'
import { fc, forAll } from '../../support/fast-check.ts'

const NOW = 1_800_000_000_000
const HOUR = 3_600_000
const DAY = 24 * HOUR
const UNPAUSED: AuthorityPause = { newOrders: 0, everything: 0 }

const rules = (limits: Partial<AcmeLimits> = {}): BudgetRules => ({
  ...{ limits: { renewalsExempt: true, ...limits }, backoff: { firstSeconds: 5, longestSeconds: 3_600 } },
  domainOf: (name) => name.split('.').slice(-2).join('.'),
})
const line = (kind: LedgerLine['kind'], ago: number, names = 'app.lab.test', unproven: string[] = []): LedgerLine => ({
  directory: 'https://ca.test/dir',
  names,
  kind,
  at: NOW - ago,
  unproven,
})
type Wish = Partial<OrderRequest>
const judge = (lines: readonly LedgerLine[], limits: Partial<AcmeLimits> = {}, wish: Wish = {}, pause = UNPAUSED) =>
  judgeOrder({ names: ['app.lab.test'], ...wish }, rules(limits), { lines, pause }, NOW)
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))

describe('a limit', () => {
  const WEEKLY = { count: 5, perSeconds: 7 * 86_400 }
  const after = (spent: number, ago = 0) => bucketOf(WEEKLY, Array(spent).fill(NOW - ago), NOW)

  test('may be spent at once, and comes back by and by', () => {
    expect(bucketOf(WEEKLY, [], NOW)).toEqual({ left: 5, waitMs: 0 })
    expect(after(4)).toEqual({ left: 1, waitMs: 0 })
    expect(after(5)).toEqual({ left: 0, waitMs: (7 * DAY) / 5 })
    expect(after(5, 2 * DAY)).toEqual({ left: 1, waitMs: 0 })
    expect(after(5, 7 * DAY)).toEqual({ left: 5, waitMs: 0 })
  })

  test('takes a clock that stepped back for now, not for a time to wait for', () =>
    expect(after(5, -30 * DAY).waitMs).toBe((7 * DAY) / 5))

  test("never lets pass what the authority's own bucket would not, however one keeps to it", () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 80 })
    forAll(fc.integer({ min: 1, max: 7 }), pauses, (count, gaps) => {
      const limit = { count, perSeconds: 60 }
      const share = 60_000 / count
      const spent: number[] = []
      let at = NOW
      let tokens = count
      for (const gap of gaps) {
        at += gap
        tokens = Math.min(count, tokens + gap / share)
        const recent = spent.filter((time) => time >= at - 120_000)
        const { waitMs, left } = bucketOf(limit, recent, at)
        expect(left > 0).toBe(waitMs === 0)
        if (waitMs > 0) continue
        expect(tokens).toBeGreaterThan(1 - 1e-6)
        tokens -= 1
        spent.push(at)
      }
    })
  })

  test('is waited for exactly as long as it says', () =>
    forAll(fc.array(fc.integer({ min: 0, max: 119_999 }), { maxLength: 12 }), (ago) => {
      const spent = ago.map((ms) => NOW - ms)
      const limit = { count: 3, perSeconds: 60 }
      const { waitMs } = bucketOf(limit, spent, NOW)
      const later = NOW + waitMs
      const recent = spent.filter((at) => at >= later - 120_000)
      const after = bucketOf(limit, recent, later)
      expect(after.waitMs).toBeLessThanOrEqual(1)
    }))
})

describe('an order is refused', () => {
  test.each<[string, LedgerLine[], Partial<AcmeLimits>, string, number]>([
    [
      'when the account has placed too many',
      times(3, (i) => line('ordered', 0, `h${i}.other.test`)),
      { ordersPerAccount: { count: 3, perSeconds: 10_800 } },
      'the limit of 3 orders of one account in 3 hours is reached',
      3_600,
    ],
    [
      'when the domain has too many certificates',
      times(2, (i) => line('issued', 0, `h${i}.lab.test`)),
      { certificatesPerDomain: { count: 2, perSeconds: 7 * 86_400 } },
      'the limit of 2 certificates for lab.test in 7 days is reached',
      302_400,
    ],
    [
      'when certificates for the domain are on their way',
      times(2, (i) => line('ordered', 0, `h${i}.lab.test`)),
      { certificatesPerDomain: { count: 2, perSeconds: 7 * 86_400 } },
      'the limit of 2 certificates for lab.test in 7 days is reached',
      302_400,
    ],
    [
      'when the same names had too many',
      times(5, () => line('issued', 0)),
      { certificatesPerNames: { count: 5, perSeconds: 7 * 86_400 } },
      'the limit of 5 certificates for exactly app.lab.test in 7 days is reached',
      120_960,
    ],
    [
      'when the proof for the name failed too often, in whatever order',
      times(2, () => line('failed', 0, 'app.lab.test,www.lab.test', ['app.lab.test'])),
      { failuresPerName: { count: 2, perSeconds: 3_600 } },
      'the limit of 2 failed validations for app.lab.test in 1 hour is reached',
      1_800,
    ],
  ])('%s', (_, lines, limits, because, retryAfter) => {
    expect(judge(lines, limits)).toEqual({ kind: 'refused', reason: 'limit', because, retryAfter })
    expect(judge(lines)).toMatchObject({ kind: 'free' })
  })

  test('while the authority wants to be left alone, however well the rest stands', () => {
    const pause = { newOrders: NOW + 3_600_000, everything: 0 }
    expect(judge([], {}, {}, pause)).toMatchObject({ kind: 'refused', reason: 'paused', retryAfter: 3_600 })
    expect(judge([], {}, { resumes: true }, pause)).toMatchObject({ reason: 'paused' })
    expect(judge([], {}, {}, { newOrders: NOW, everything: NOW })).toMatchObject({ kind: 'free' })
  })

  test('by a pause only as long as the longest that an authority is believed: a longer one is of a clock that was ahead', () => {
    const until = (ms: number) => ({ newOrders: NOW + ms, everything: NOW + ms })
    expect(judge([], {}, {}, until(7 * DAY))).toMatchObject({ reason: 'paused', retryAfter: 604_800 })
    expect(judge([], {}, {}, until(7 * DAY + 1))).toMatchObject({ kind: 'free' })
    expect(judge([], {}, { replaces: 'aki.serial' }, until(7 * DAY + 1))).toMatchObject({ kind: 'free' })
  })

  test('after failures in a row, for twice as long each time, up to the longest', () => {
    const after = (count: number) => judge(times(count, (i) => line('failed', count - i - 1)))
    expect(after(1)).toMatchObject({ reason: 'backoff', because: 'the last attempt for app.lab.test failed' })
    expect(after(1)).toMatchObject({ retryAfter: 5 })
    expect(after(2)).toMatchObject({ retryAfter: 10, because: 'the last 2 attempts for app.lab.test failed' })
    expect(after(4)).toMatchObject({ retryAfter: 40 })
    expect(after(60)).toMatchObject({ retryAfter: 3_600 })
    expect(backoffSeconds(10_000, { firstSeconds: 1, longestSeconds: 7 })).toBe(7)
  })
})

describe('an order is free', () => {
  test('after a failure, when the pause is over, and tells how many failed', () =>
    expect(judge([line('failed', 6_000)])).toEqual({ kind: 'free', failures: 1, limits: [] }))

  test('when the failures were before a success, or of other names', () => {
    expect(judge([line('failed', 2), line('issued', 1)])).toMatchObject({ failures: 0 })
    expect(judge([line('failed', 0, 'www.lab.test')])).toMatchObject({ kind: 'free', failures: 0 })
  })

  test('and shows what is left', () => {
    const limits = {
      certificatesPerDomain: { count: 50, perSeconds: 604_800 },
      failuresPerName: { count: 5, perSeconds: 3_600 },
    }
    expect(judge([line('issued', 0, 'www.lab.test')], limits)).toEqual({
      kind: 'free',
      failures: 0,
      limits: [
        { limit: 'certificatesPerDomain', subject: 'lab.test', left: 49, count: 50, perSeconds: 604_800 },
        { limit: 'failuresPerName', subject: 'app.lab.test', left: 5, count: 5, perSeconds: 3_600 },
      ],
    })
  })

  test('when orders ended without a certificate, or were left for a day: nothing was issued', () => {
    const limits = { certificatesPerDomain: { count: 1, perSeconds: 604_800 } }
    const other = 'www.lab.test'
    expect(judge([line('ordered', 9, other), line('failed', 8, other)], limits)).toMatchObject({ kind: 'free' })
    expect(judge([line('ordered', DAY + 1, other)], limits)).toMatchObject({ kind: 'free' })
    expect(judge([line('ordered', DAY - 1, other)], limits)).toMatchObject({ kind: 'refused' })
  })
})

test('an order that was left is not counted against itself', () => {
  const limits = { certificatesPerDomain: { count: 1, perSeconds: 604_800 } }
  expect(judge([line('ordered', 9)], limits)).toMatchObject({ kind: 'free' })
  expect(judge([line('ordered', 9)], limits, { names: ['www.lab.test'] })).toMatchObject({ kind: 'refused' })
})

describe('a renewal', () => {
  const full = {
    ordersPerAccount: { count: 1, perSeconds: 10_800 },
    certificatesPerDomain: { count: 1, perSeconds: 604_800 },
    certificatesPerNames: { count: 2, perSeconds: 604_800 },
  }
  const spent = [line('ordered', 3), line('issued', 2)]

  test('of the same names counts against those names alone, where the authority exempts it', () => {
    expect(judge(spent, full)).toMatchObject({ kind: 'free' })
    expect(judge([...spent, line('issued', 1)], full)).toMatchObject({ because: expect.stringContaining('exactly') })
    expect(judge(spent, { ...full, renewalsExempt: false })).toMatchObject({ kind: 'refused' })
  })

  test('that names what it replaces counts against nothing there, and is stopped only by what was said to a renewal', () => {
    const named = { replaces: 'aki.serial' }
    const lines = [...spent, line('issued', 1)]
    expect(judge(lines, full, named)).toMatchObject({ kind: 'free' })
    expect(judge(lines, { ...full, renewalsExempt: false }, named)).toMatchObject({ kind: 'refused' })
    expect(judge(lines, full, named, { newOrders: NOW + 9_000, everything: 0 })).toMatchObject({ kind: 'free' })
    expect(judge(lines, full, named, { newOrders: NOW + 9_000, everything: NOW + 4_000 })).toMatchObject({
      retryAfter: 4,
    })
    expect(judge([line('failed', 0)], full, named)).toMatchObject({ reason: 'backoff' })
  })
})

test('a set is the same set in any order, and a wildcard is counted by the name below it', () => {
  expect(nameSet(['b.test', 'a.test', 'b.test'])).toBe('a.test,b.test')
  const wild = { names: ['*.lab.test', 'lab.test'] }
  const limits = { certificatesPerDomain: { count: 1, perSeconds: 60 }, failuresPerName: { count: 1, perSeconds: 60 } }
  expect(judge([line('issued', 0, '*.lab.test')], limits, wild)).toMatchObject({
    because: expect.stringContaining('lab.test'),
  })
  expect(judge([line('failed', 0, 'x', ['lab.test'])], limits, wild)).toMatchObject({ kind: 'refused' })
})

test('the lines reach back two periods of the longest limit, and a week at least', () => {
  expect(ledgerSince(rules(), NOW)).toBe(NOW - 7 * DAY)
  expect(ledgerSince(rules({ certificatesPerNames: { count: 1, perSeconds: 604_800 } }), NOW)).toBe(NOW - 14 * DAY)
})
