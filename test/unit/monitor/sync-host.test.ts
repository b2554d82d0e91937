import { describe, expect, test } from 'vitest'
import type { HostStatus } from '../../../src/model/host-status.ts'
import type { Receipt } from '../../../src/model/receipt.ts'
import type { Run } from '../../../src/model/run.ts'
import { needsFullCheck, pending, statusAfterCheck } from '../../../src/monitor/judge.ts'
import { repairTime, syncHost } from '../../../src/monitor/sync-host.ts'
import { verifiedAnswer } from '../../../src/runs/steps/verify.ts'
import type { Exposure } from '../../../src/store/ports/exposures.ts'
import { sampleStatus } from '../../support/http/host-status.ts'

/** A repair is told by every read as soon as it has ended, without a check of the monitor. */
const CHECKED = 1_000
const DAY = 86_400_000
const sound = { dns: 'ours', file: 'unchanged' } as const
const answer = { kind: 'answer', httpStatus: 200, latencyMs: 3 } as const
const primary = { server: '23', ok: true, detail: 'HTTP 200', httpStatus: 200, latencyMs: 4 }
const verification = { primary, secondary: null }
const receipt: Receipt = { version: 2, records: [], verification }

const damaged = (fullCheck: object): HostStatus =>
  statusAfterCheck(sampleStatus(), { answer, fullCheck: { ...sound, ...fullCheck } }, CHECKED)

function synced(status: HostStatus, repairedAt: number | undefined, of = receipt, expiresAt = status.expiresAt) {
  const planId = status.planId ?? ''
  const exposure: Exposure = { host: status.host, planId, state: 'applied', fence: 1, since: 0, receipt: of }
  let present = status
  const statuses = { find: () => present, remove: () => undefined, put: (next: HostStatus) => (present = next) }
  const watched = { ...status, expiresAt }
  syncHost(statuses, status.host, { watched, exposure, repairedAt, firstAnswer: verifiedAnswer })
  return present
}

test.each([
  ['DRIFT', { file: 'edited' }],
  ['NO DNS', { dns: 'not_ours' }],
] as const)('a host that was %s is RUNNING when its repair has ended', (badge, fullCheck) => {
  const before = damaged(fullCheck)
  expect(before.badge).toBe(badge)
  const at = CHECKED + 1
  const repaired = { lastCheck: { at, httpStatus: 200 }, fullCheck: { at, ...sound } }
  expect(synced(before, at)).toMatchObject({ badge: 'RUNNING', since: at, ...repaired })
})

test('the verification of an apply is the first full check of its host', () => {
  const checks = { lastCheck: { httpStatus: 200 }, fullCheck: { at: 0, ...sound, secondary: null } }
  expect(synced(pending(sampleStatus()), undefined)).toMatchObject({ badge: 'RUNNING', ...checks })
})

test('what a Secondary has that did not answer after an apply is left to a full check', () => {
  const secondary = { server: '73', ok: false, detail: 'no answer', optional: true } as const
  const seen = { ...receipt, verification: { ...verification, secondary } }
  const applied = synced(pending(sampleStatus()), undefined, seen)
  expect(applied).toMatchObject({ badge: 'RUNNING', fullCheck: { at: null } })
})

test('the Secondary is told as the verification of the repair saw it', () => {
  const before = damaged({ secondary: 'differs' })
  expect(needsFullCheck(before)).toBe(true)
  const secondary = { server: '73', ok: true, detail: 'HTTP 200', optional: true } as const
  const repaired = synced(before, CHECKED + 1, { ...receipt, verification: { ...verification, secondary } })
  expect([repaired.fullCheck.secondary, needsFullCheck(repaired)]).toEqual(['in_step', false])
  expect(synced(before, CHECKED + 1).fullCheck.secondary).toBe('differs')
})

test('a new certificate counts, too', () => {
  const expired = { fingerprint: 'A', names: [], coversHost: true, notBefore: new Date(0).toISOString() }
  const served = { ...answer, certificate: { ...expired, notAfter: new Date(CHECKED - 1).toISOString() } }
  const before = statusAfterCheck({ ...sampleStatus(), tls: true }, { answer: served, fullCheck: sound }, CHECKED)
  expect(before.badge).toBe('CERT')
  const files = { certificateFile: '', keyFile: '', source: 'issued', names: [], ours: true, fingerprint: 'B' } as const
  const renewed = { ...receipt, certificate: { ...files, notBefore: CHECKED, notAfter: CHECKED + 90 * DAY } }
  expect(synced(before, CHECKED + 1, renewed).badge).toBe('RUNNING')
})

test('a check that is younger than the repair stays, and so does a host that was not repaired', () => {
  const before = damaged({ file: 'edited' })
  expect(synced(before, CHECKED)).toBe(before)
  expect(synced(before, undefined)).toBe(before)
  expect(synced(before, undefined, receipt, 5_000)).toEqual({ ...before, expiresAt: 5_000 })
  expect(synced(before, CHECKED + 1, receipt, 5_000)).toMatchObject({ badge: 'RUNNING', expiresAt: 5_000 })
})

describe('the time of a repair', () => {
  const run = (action: string, state: string, finishedAt: number) => ({ action, state, finishedAt }) as Run
  const timeOf = (runs: readonly Run[], state = 'applied') =>
    repairTime({ runsOf: async () => [...runs] }, { planId: 'plan_1', state } as Exposure)

  test('is the end of the newest run, if that is a repair that succeeded', async () => {
    const repair = run('repair', 'succeeded', 7)
    expect(await timeOf([run('apply', 'succeeded', 1), repair])).toBe(7)
    expect(await timeOf([repair, run('renew', 'succeeded', 9)])).toBeUndefined()
    expect(await timeOf([run('repair', 'rolled_back', 7)])).toBeUndefined()
    expect(await timeOf([repair], 'blocked')).toBeUndefined()
  })
})
