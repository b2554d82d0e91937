import { expect, test } from 'vitest'
import { diagnose } from '../../../src/diagnose/diagnose.ts'
import type { EdgeAnswer } from '../../../src/edge/contract/visit.ts'
import { type BadgeFacts, badgeOf, certificateLevel, type NoAnswerReason } from '../../../src/model/badge.ts'
import type { Evidence, FileState } from '../../../src/model/evidence.ts'
import { factsOf, statusAfterCheck } from '../../../src/monitor/judge.ts'
import { sampleEvidence } from '../../support/evidence.ts'
import { sampleStatus } from '../../support/http/host-status.ts'

const ANSWER = { httpStatus: 200, reason: null }
const WELL: BadgeFacts = { managed: true, answer: ANSWER, dns: 'ours', certificate: 'ok', file: 'unchanged' }
const answered = (httpStatus: number | null, reason: NoAnswerReason | null = null) => ({
  answer: { httpStatus, reason },
})
const WORST = { dns: 'not_ours', certificate: 'expired', file: 'edited' } as const

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
  ['DRIFT', { answer: { httpStatus: 200, reason: null, entry: 'other' } }],
  ['RUNNING', { answer: { httpStatus: 200, reason: null, entry: 'ours' } }],
  ['RUNNING', { dns: null, certificate: null, file: null }],
])('a badge is %s for %j', (badge, facts) => expect(badgeOf({ ...WELL, ...facts })).toBe(badge))

test('that a host that was not made here redirects or asks who one is, is no fault', () => {
  const badges = [301, 401, 403, 404, 500].map((httpStatus) =>
    badgeOf({ ...WELL, managed: false, dns: null, file: null, ...answered(httpStatus) }),
  )
  expect(badges).toEqual(['RUNNING', 'RUNNING', 'RUNNING', 'HTTP 404', 'HTTP 500'])
})

test('the level of a certificate changes after two thirds and five sixths of its life, and with its end', () => {
  const levels = [0, 59, 60, 74, 75, 89, 90, 1000].map((now) => certificateLevel({ notBefore: 0, notAfter: 90 }, now))
  expect(levels.join(' ')).toBe('ok ok warning warning critical critical expired expired')
})

/** Every look that differs in what a badge is made of. A null could not be told. */
const ANSWERS: readonly (EdgeAnswer & { certificate?: never })[] = [
  { kind: 'answer', httpStatus: 200, latencyMs: 1 },
  { kind: 'answer', httpStatus: 502, latencyMs: 1 },
  { kind: 'no_answer', reason: 'timeout' },
  { kind: 'no_answer', reason: 'handshake_refused' },
]
const DNS = ['ours', 'not_ours', null] as const
const FILES = ['unchanged', 'edited', null] as const
const DAY = 86_400_000
const valid = (from: number, to: number, coversHost = true) => ({
  coversHost,
  notBefore: from * DAY,
  notAfter: to * DAY,
})
const CERTIFICATES = [valid(-1, 89), valid(-89, 1), valid(-1, 89, false), null]
const LOOKS = ANSWERS.flatMap((answer) => DNS.flatMap((dns) => FILES.map((file) => ({ answer, dns, file })))).flatMap(
  (look) => CERTIFICATES.map((certificate) => ({ ...look, certificate })),
)
type Look = (typeof LOOKS)[number]

const served = ({ coversHost, notBefore, notAfter }: NonNullable<Look['certificate']>) => {
  const [from, to] = [notBefore, notAfter].map((time) => new Date(time).toISOString())
  return { fingerprint: 'AA', names: [], coversHost, notBefore: from, notAfter: to }
}

const checked = (before: ReturnType<typeof sampleStatus>, { answer, dns, file, certificate }: Look) => {
  const isServed = answer.kind === 'answer' && certificate !== null
  const heard = isServed ? { ...answer, certificate: served(certificate) } : answer
  return statusAfterCheck(before, { answer: heard as EdgeAnswer, fullCheck: { dns, file } }, 0)
}

const FILE_STATES: Readonly<Record<string, FileState>> = { unchanged: 'unchanged', edited: 'edited' }
const fullCheckAt = ({ answer, dns, file, certificate }: Look): Partial<Evidence> => ({
  at: 0,
  visit: answer,
  records: dns,
  file: FILE_STATES[file ?? ''] ?? 'not_ours',
  // A handshake that is refused shows no certificate, to the monitor as to the diagnosis.
  tls:
    certificate && answer.kind === 'answer' ? { kind: 'certificate', names: [], ...certificate } : { kind: 'unknown' },
})

test('the monitor and the diagnosis show the same badge for the same facts, whatever was known before', () => {
  for (const earlier of LOOKS) {
    const before = checked(sampleStatus(), earlier)
    for (const look of LOOKS) {
      const evidence = { ...sampleEvidence(), ...fullCheckAt(look), known: factsOf(before, 0) }
      const { badge } = diagnose(evidence, { network: 'internal', servers: {}, configFile: '' })
      if (badge !== checked(before, look).badge) expect([earlier, look, badge]).toEqual(checked(before, look).badge)
    }
  }
})

test('the monitor and the diagnosis leave the badge as it was when nothing could be told', () => {
  for (const earlier of LOOKS) {
    const before = checked(sampleStatus(), earlier)
    const blind = { ...sampleEvidence(), ...fullCheckAt({ ...earlier, dns: null, file: null, certificate: null }) }
    const evidence: Evidence = { ...blind, visit: { kind: 'unknown' }, known: factsOf(before, 0) }
    expect(diagnose(evidence, { network: 'internal', servers: {}, configFile: '' }).badge).toBe(before.badge)
  }
})
