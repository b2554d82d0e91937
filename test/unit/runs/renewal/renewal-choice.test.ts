import { describe, expect, test } from 'vitest'
import { dueAt } from '../../../../src/certificates/budget/renewal-schedule.ts'
import type { InstalledCertificate } from '../../../../src/certificates/contract.ts'
import { certificateLevel } from '../../../../src/model/badge.ts'
import type { ChosenCertificate } from '../../../../src/model/receipt.ts'
import { pauseAfter } from '../../../../src/primitives/retry.ts'
import { isBetter, namesToRenew } from '../../../../src/runs/steps/renew.ts'

const DAY = 86_400_000
const ofDays = (days: number, first = '80:00:00:00') => {
  const fingerprint = `${first}:${'00:'.repeat(30)}00`
  return { fingerprint, notBefore: 0, notAfter: days * DAY }
}

describe('when a certificate is due', () => {
  test.each([6, 90, 365])('of %i days: shortly before two thirds of its life, when nobody warns yet', (days) => {
    for (const first of ['00:00:00:00', '80:00:00:00', 'FF:FF:FF:FF']) {
      const due = dueAt(ofDays(days, first)) / (days * DAY)
      expect(due).toBeGreaterThanOrEqual(2 / 3 - 0.05)
      expect(due).toBeLessThan(2 / 3)
      expect(certificateLevel(ofDays(days), dueAt(ofDays(days, first)))).toBe('ok')
    }
  })

  test('certificates issued together are not renewed together, and each always at the same time', () => {
    const dues = ['00', '40', '80', 'C0', 'FF'].map((first) => dueAt(ofDays(90, `${first}:00:00:00`)))
    expect(new Set(dues).size).toBe(5)
    expect(dueAt(ofDays(90))).toBe(dueAt(ofDays(90)))
  })

  test("inside the authority's window, wherever it is, but never in the last sixth", () => {
    const window = { start: 10 * DAY, end: 12 * DAY }
    expect(dueAt(ofDays(90, '80:00:00:00'), window)).toBe(11 * DAY)
    expect(dueAt(ofDays(90), { start: 70 * DAY, end: 72 * DAY })).toBe(71 * DAY)
    expect(dueAt(ofDays(90), { start: 80 * DAY, end: 100 * DAY })).toBe(75 * DAY)
    expect(dueAt(ofDays(90), { start: 1, end: 2 })).toBeLessThan(2)
  })

  test('a failure is followed by a pause that doubles up to a cap', () => {
    const retry = { firstMs: 300_000, factor: 2, longestMs: 21_600_000 }
    expect([1, 2, 3, 7, 8, 1_000].map((failures) => pauseAfter(failures, retry) / 1000)).toEqual([
      300, 600, 1_200, 19_200, 21_600, 21_600,
    ])
  })
})

const inUse = (names: readonly string[] = ['app.lab.test']): ChosenCertificate => ({
  ...{ fingerprint: 'old', certificateFile: '', keyFile: '', source: 'issued' },
  ...{ names, notBefore: 10, notAfter: 20, ours: true },
})

test.each([
  ['newer and longer', 'new', 11, 21, true],
  ['newer, though it ends sooner', 'new', 11, 19, true],
  ['older, though it lasts longer', 'new', 9, 21, true],
  ['older and shorter', 'new', 9, 19, false],
  ['the same', 'old', 11, 21, false],
])('a certificate that is %s', (_what, print, notBefore, notAfter, better) => {
  const candidate = { fingerprint: print, notBefore: new Date(notBefore), notAfter: new Date(notAfter) }
  expect(isBetter(candidate as InstalledCertificate, inUse())).toBe(better)
})

test.each<[string, Partial<InstalledCertificate>, boolean]>([
  ['is issued by us for the same names', {}, true],
  ['is issued by us for other names', { names: ['*.lab.test'] }, false],
  ['is placed by an administrator', { issued: false }, false],
  ['has the same fingerprint', { fingerprint: 'old' }, false],
])('a certificate of the same second that %s', (_what, more, better) => {
  const times = { notBefore: new Date(10), notAfter: new Date(20) }
  const names = ['app.lab.test']
  const candidate = { fingerprint: 'new', serial: '', names, ...times, issued: true, certificateFile: '', keyFile: '' }
  expect(isBetter({ ...candidate, ...more }, inUse())).toBe(better)
})

test('what is ordered in place of a certificate', () => {
  const wild = ['*.lab.test']
  expect(namesToRenew('app.lab.test', inUse(), ['app.lab.test'], 'dns-01')).toEqual(['app.lab.test'])
  const two = ['a.test', 'b.test']
  expect(namesToRenew('app.lab.test', inUse(two), ['app.lab.test'], 'dns-01')).toEqual(two)
  expect(namesToRenew('app.lab.test', inUse(), wild, 'dns-01')).toEqual(wild)
  expect(namesToRenew('app.lab.test', inUse(wild), ['app.lab.test'], 'dns-01')).toEqual(wild)
  expect(namesToRenew('app.lab.test', inUse(wild), ['app.lab.test'], 'http-01')).toEqual(['app.lab.test'])
})
