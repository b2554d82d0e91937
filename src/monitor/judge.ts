import type { EdgeAnswer } from '../edge/contract/visit.ts'
import {
  type Badge,
  type BadgeFacts,
  badgeOf,
  certificateLevel,
  mergeFacts,
  servesVisitors,
  type Validity,
} from '../model/badge.ts'
import { addCheck, NO_HISTORY } from '../model/history.ts'
import type { FullCheck, HostStatus, ServedCertificate, WatchedHost } from '../model/host-status.ts'

/** The result of one check. `fullCheck` is present when the check was a full check. */
export interface CheckOutcome {
  readonly answer: EdgeAnswer
  readonly fullCheck?: Pick<FullCheck, 'dns' | 'file' | 'secondary'> | undefined
}

const NO_FULL_CHECK: FullCheck = { at: null, dns: null, file: null, certificate: null }

/** The status of a host that was never checked. */
export const pending = (watched: WatchedHost): HostStatus => ({
  ...watched,
  badge: 'PENDING',
  since: null,
  lastCheck: null,
  fullCheck: NO_FULL_CHECK,
  history: NO_HISTORY,
  changed: 0,
})

/** The facts about a host at `now`, from its last check and its last full check. */
export function factsOf({ managed, lastCheck, fullCheck, goodStatuses }: HostStatus, now: number): BadgeFacts {
  const { dns, file, certificate } = fullCheck
  return {
    managed,
    answer: lastCheck && { httpStatus: lastCheck.httpStatus, reason: lastCheck.reason, entry: lastCheck.entry },
    dns,
    file,
    certificate: certificate && certificateFact({ ...certificate, level: certificateLevel(certificate, now) }),
    ...(goodStatuses && { goodStatuses }),
  }
}

/** The status after a check. The caller sets `changed`. */
export function statusAfterCheck(before: HostStatus, { answer, fullCheck }: CheckOutcome, now: number): HostStatus {
  const answered = answer.kind === 'answer'
  const httpStatus = answered ? answer.httpStatus : null
  const latencyMs = answered ? answer.latencyMs : null
  const reason = answered ? null : answer.reason
  const certificate = certificateAfter(before, answer, now)
  const entry = answered ? answer.entry : undefined
  const facts = mergeFacts(factsOf(before, now), {
    managed: before.managed,
    answer: { httpStatus, reason, entry },
    dns: fullCheck?.dns ?? null,
    file: fullCheck?.file ?? null,
    certificate: certificate && certificateFact(certificate),
  })
  const badge = badgeOf(facts)
  const ok = servesVisitors(facts)
  return {
    ...before,
    badge,
    since: badge === before.badge ? before.since : now,
    lastCheck: { at: now, ok, httpStatus, latencyMs, reason, ...(entry && { entry }) },
    fullCheck: {
      at: fullCheck ? now : before.fullCheck.at,
      dns: facts.dns,
      file: facts.file,
      certificate,
      secondary: fullCheck?.secondary ?? before.fullCheck.secondary ?? null,
    },
    history: addCheck(before.history, { at: now, ok, latencyMs }),
  }
}

/** The status after a handshake has shown a new certificate, before the next full check. */
export function withCertificate(before: HostStatus, validity: Validity, now: number): HostStatus {
  const { notBefore, notAfter } = validity
  const level = certificateLevel(validity, now)
  // Issuer and names stay as they were until the next full check.
  const certificate = { ...before.fullCheck.certificate, notBefore, notAfter, level, forHost: true }
  const status = { ...before, fullCheck: { ...before.fullCheck, certificate } }
  const badge = badgeOf(factsOf(status, now))
  return { ...status, badge, since: badge === before.badge ? before.since : now }
}

const certificateFact = ({ forHost, level }: ServedCertificate): BadgeFacts['certificate'] =>
  forHost ? level : 'wrong_name'

/** Whether the host itself fails to answer. One that answers, and cannot be reached for want of a name or a certificate, is asked as often. */
export const isSilent = (status: HostStatus): boolean =>
  status.lastCheck !== null &&
  badgeOf({ ...factsOf(status, status.lastCheck.at), dns: null, file: null, certificate: null }) !== 'RUNNING'

/** Badges that only a full check can clear. While a host has one of them, or is not in step on the Secondary, every check is one. */
const CLEARED_BY_FULL_CHECK: readonly Badge[] = ['NO DNS', 'CERT', 'DRIFT']
export const needsFullCheck = ({ badge, fullCheck: { secondary } }: HostStatus): boolean =>
  CLEARED_BY_FULL_CHECK.includes(badge) || secondary === 'missing' || secondary === 'differs'

/** The certificate that was served last, with its level at `now`. */
function certificateAfter(
  { host, tls, fullCheck }: HostStatus,
  answer: EdgeAnswer,
  now: number,
): ServedCertificate | null {
  if (!tls) return null
  const served = answer.kind === 'answer' ? answer.certificate : undefined
  if (!served)
    return fullCheck.certificate && { ...fullCheck.certificate, level: certificateLevel(fullCheck.certificate, now) }
  const validity = { notBefore: Date.parse(served.notBefore), notAfter: Date.parse(served.notAfter) }
  return {
    ...validity,
    level: certificateLevel(validity, now),
    forHost: served.coversHost,
    ...(served.issuer !== undefined && { issuer: served.issuer }),
    ...namesBeside(host, served.names),
  }
}

const MOST_NAMES = 20

/** Thousands of hosts have a certificate of their own, whose only name is the host: it is not kept twice. */
function namesBeside(host: string, served: readonly string[]): { names?: readonly string[] } {
  const names = served.filter((name) => /^(?:\*\.)?[a-z0-9_.-]{1,253}$/.test(name)).slice(0, MOST_NAMES)
  return names.length === 1 && names[0] === host ? {} : { names }
}
