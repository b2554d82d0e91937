import { describe, expect, test } from 'vitest'
import type { EdgeAnswer } from '../../../src/edge/contract/visit.ts'
import { stripOf, uptimeOf } from '../../../src/model/history.ts'
import type { HostStatus } from '../../../src/model/host-status.ts'
import { eventsBetween } from '../../../src/monitor/host-events.ts'
import { isSilent, needsFullCheck, statusAfterCheck } from '../../../src/monitor/judge.ts'
import { sampleStatus } from '../../support/http/host-status.ts'

const DAY = 86_400_000
const BEGIN = Date.parse('2026-01-01T00:00:00Z')
const iso = (days: number) => new Date(BEGIN + days * DAY).toISOString()
const certificate = (coversHost = true, ends = 90) => ({
  ...{ fingerprint: 'AA:BB', names: ['*.lab.test'], coversHost, notBefore: iso(0), notAfter: iso(ends) },
})
const answered = (httpStatus = 200, served?: ReturnType<typeof certificate>): EdgeAnswer => ({
  ...{ kind: 'answer', httpStatus, latencyMs: 4, ...(served && { certificate: served }) },
})
const silent: EdgeAnswer = { kind: 'no_answer', reason: 'refused' }
const SOUND = { dns: 'ours', file: 'unchanged' } as const

/** One check after another, each told from the one before. */
function checks(
  ...seen: (readonly [
    day: number,
    answer: EdgeAnswer,
    fullCheck?: Parameters<typeof statusAfterCheck>[1]['fullCheck'],
  ])[]
) {
  const statuses: HostStatus[] = [sampleStatus()]
  for (const [day, answer, fullCheck] of seen)
    statuses.push(statusAfterCheck(statuses.at(-1) ?? sampleStatus(), { answer, fullCheck }, BEGIN + day * DAY))
  return statuses
}
const badges = (statuses: readonly HostStatus[]) => statuses.map(({ badge }) => badge)
const told = (statuses: readonly HostStatus[]) =>
  statuses.flatMap((after, i) => {
    const before = statuses[i - 1]
    return before ? eventsBetween(before, after, 0).map(({ type }) => type) : []
  })

describe('a certificate grows old between two full checks', () => {
  const old = [59, 61, 76, 91].map((day) => [day, answered()] as const)
  const renewed = [91.5, answered(200, certificate(true, 180)), SOUND] as const
  const life = checks([0, answered(200, certificate()), SOUND], ...old, renewed)

  test('each level is told once, as it is reached, and its renewal too', () => {
    const levels = life.map(({ fullCheck }) => fullCheck.certificate?.level ?? 'none')
    expect(levels.join(' ')).toBe('none ok ok warning critical expired ok')
    const events = told(life).filter((type) => type.startsWith('certificate.'))
    const types = ['warning', 'critical', 'expired', 'recovered'].map((level) => `certificate.${level}`)
    expect(events).toEqual(types)
  })

  test('the badge says CERT for as long, which makes every check a full check', () => {
    expect(badges(life)).toEqual(['PENDING', 'RUNNING', 'RUNNING', 'CERT', 'CERT', 'CERT', 'RUNNING'])
    expect(life.map(needsFullCheck)).toEqual([false, false, false, true, true, true, false])
    expect(told(life).filter((type) => type === 'host.badge')).toHaveLength(3)
  })

  test('an event tells how long it is good and what it was before', () => {
    const [before, after] = [life[2], life[3]]
    const [, event] = before && after ? eventsBetween(before, after, 0) : []
    const facts = { notAfter: '2026-04-01T00:00:00.000Z', level: 'warning', before: 'ok' }
    expect(event).toMatchObject({ type: 'certificate.warning', host: 'app.lab.test', planId: 'plan_x', facts })
  })
})

describe('a status after a check', () => {
  test.each(Object.entries({ RUNNING: true, CERT: false }))(
    'is %s with a certificate for the host: %s',
    (badge, isOurs) => expect(badges(checks([1, answered(200, certificate(isOurs)), SOUND])).at(-1)).toBe(badge),
  )

  test('keeps the result of the last full check until the next one', () => {
    const changed = [1, answered(), { dns: 'not_ours', file: 'edited' }] as const
    const partly = [3, answered(), { dns: 'ours', file: 'edited' }] as const
    const statuses = checks(changed, [2, answered()], partly, [4, answered(), SOUND])
    expect(badges(statuses)).toEqual(['PENDING', 'NO DNS', 'NO DNS', 'DRIFT', 'RUNNING'])
    expect(statuses.map(({ fullCheck }) => fullCheck.at && (fullCheck.at - BEGIN) / DAY)).toEqual([null, 1, 1, 3, 4])
  })

  test('keeps the earlier facts where a full check found none', () => {
    const statuses = checks(
      [1, answered(), { dns: 'not_ours', file: 'edited' }],
      [2, answered(), { dns: null, file: null }],
      [3, answered(), { dns: 'ours', file: null }],
      [4, answered(), { dns: null, file: 'unchanged' }],
    )
    expect(badges(statuses)).toEqual(['PENDING', 'NO DNS', 'NO DNS', 'DRIFT', 'RUNNING'])
  })

  test('says since when it is so, and counts as up what a visitor gets', () => {
    const statuses = checks(
      [1, answered(), { dns: 'ours', file: 'edited' }],
      [1.001, answered(), { dns: 'not_ours', file: null }],
      [1.002, silent],
      [1.003, silent],
    )
    expect(badges(statuses)).toEqual(['PENDING', 'DRIFT', 'NO DNS', 'DOWN', 'DOWN'])
    expect(statuses.map(({ lastCheck }) => lastCheck?.ok)).toEqual([undefined, true, false, false, false])
    expect(statuses.map(isSilent)).toEqual([false, false, false, true, true])
    const { since, history, lastCheck } = statuses.at(-1) ?? sampleStatus()
    expect(since).toBe(BEGIN + 1.002 * DAY)
    expect(lastCheck).toMatchObject({ ok: false, httpStatus: null, reason: 'refused', latencyMs: null })
    expect(uptimeOf(history, BEGIN + 1.003 * DAY)).toBe(0.25)
    expect(stripOf(history, BEGIN + 1.003 * DAY)).toMatch(/^-{47}2$/)
  })

  test('a certificate that visitors refuse is not up, one that ends soon is', () => {
    const statuses = checks(
      [0, answered(200, certificate(false)), SOUND],
      [1, answered(200, certificate()), SOUND],
      [76, answered()],
      [91, answered()],
      [92, { kind: 'no_answer', reason: 'handshake_refused' }],
    )
    expect(badges(statuses)).toEqual(['PENDING', 'CERT', 'RUNNING', 'CERT', 'CERT', 'CERT'])
    expect(statuses.map(({ lastCheck }) => lastCheck?.ok)).toEqual([undefined, false, true, true, false, false])
  })

  test('without TLS has no certificate', () => {
    const plain = sampleStatus({ tls: false })
    expect(statusAfterCheck(plain, { answer: answered(200, certificate()) }, BEGIN).fullCheck.certificate).toBeNull()
  })
})
