import { describe, expect, test } from 'vitest'
import { type BadgeFacts, badgeOf, certificateLevel, type NoAnswerReason } from '../../src/model/badge.ts'

const WELL: BadgeFacts = {
  managed: true,
  answer: { httpStatus: 200, reason: null },
  dns: 'ours',
  certificate: 'ok',
  file: 'unchanged',
}
const answered = (httpStatus: number | null, reason: NoAnswerReason | null = null) => ({
  answer: { httpStatus, reason },
})
const WORST = { dns: 'not_ours', certificate: 'expired', file: 'edited' } as const

describe('a badge', () => {
  test.each<[string, Partial<BadgeFacts>]>([
    ['RUNNING', {}],
    ['PENDING', { ...WORST, answer: null }],
    ['DOWN', { ...WORST, ...answered(null, 'timeout') }],
    ['CERT', answered(null, 'handshake_refused')],
    ['HTTP 502', { ...WORST, ...answered(502) }],
    ['HTTP 503', { ...WORST, ...answered(503) }],
    ['HTTP 302', answered(302)],
    ['HTTP 401', answered(401)],
    ['RUNNING', answered(204)],
    ['NO DNS', WORST],
    ['CERT', { ...WORST, dns: 'ours' }],
    ['CERT', { certificate: 'warning' }],
    ['CERT', { certificate: 'wrong_name' }],
    ['DRIFT', { file: 'edited' }],
    ['RUNNING', { dns: null, certificate: null, file: null }],
  ])('is %s for %j', (badge, facts) => {
    expect(badgeOf({ ...WELL, ...facts })).toBe(badge)
  })

  test.each([
    [301, 'RUNNING'],
    [401, 'RUNNING'],
    [403, 'RUNNING'],
    [404, 'HTTP 404'],
    [500, 'HTTP 500'],
  ])('of a host that was not made here and answers %i is %s', (httpStatus, badge) => {
    expect(badgeOf({ ...WELL, managed: false, dns: null, file: null, ...answered(httpStatus) })).toBe(badge)
  })
})

describe('the level of a certificate', () => {
  const validity = { notBefore: 0, notAfter: 90 }
  test.each([
    [0, 'ok'],
    [59, 'ok'],
    [60, 'warning'],
    [74, 'warning'],
    [75, 'critical'],
    [89, 'critical'],
    [90, 'expired'],
    [1000, 'expired'],
  ])('after %i of 90 days is %s', (now, level) => {
    expect(certificateLevel(validity, now)).toBe(level)
  })
})
