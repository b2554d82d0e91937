import type { EdgeAnswer } from '../edge/contract.ts'
import { type Badge, badgeOf, certificateLevel } from '../model/badge.ts'
import { isInZone } from '../model/dns-name.ts'
import { NO_HISTORY, recorded } from '../model/history.ts'
import type { HostStatus, ServedCertificate, Sightings, WatchedHost } from '../model/host-status.ts'

/** What one check brought home; `look` is there when it took the longer look. */
export interface Seen {
  readonly answer: EdgeAnswer
  readonly look?: Pick<Sightings, 'dns' | 'file'> | undefined
}

const NOTHING_SEEN: Sightings = { at: null, dns: null, file: null, certificate: null }

/** A host that was never checked. */
export const pending = (watched: WatchedHost): HostStatus => ({
  ...watched,
  badge: 'PENDING',
  since: null,
  lastCheck: null,
  sightings: NOTHING_SEEN,
  history: NO_HISTORY,
  changed: 0,
})

/** The status after a check. `changed` is left to whoever keeps it. */
export function judged(before: HostStatus, { answer, look }: Seen, now: number): HostStatus {
  const answered = answer.kind === 'answer'
  const httpStatus = answered ? answer.httpStatus : null
  const latencyMs = answered ? answer.latencyMs : null
  const reason = answered ? null : answer.reason
  const certificate = certificateAfter(before, answer, now)
  const sightings: Sightings = { ...before.sightings, ...look, ...(look && { at: now }), certificate }
  const facts = { managed: before.managed, answer: { httpStatus, reason }, dns: sightings.dns, file: sightings.file }
  const badge = badgeOf({
    ...facts,
    certificate: certificate && (certificate.forHost ? certificate.level : 'wrong_name'),
  })
  // What was answered through the edge, and nothing else, counts as up.
  const ok = badgeOf({ ...facts, dns: null, file: null, certificate: null }) === 'RUNNING'
  return {
    ...before,
    badge,
    since: badge === before.badge ? before.since : now,
    lastCheck: { at: now, ok, httpStatus, latencyMs, reason },
    sightings,
    history: recorded(before.history, { at: now, ok, latencyMs }),
  }
}

/** What only a longer look finds out: while it is so, every check takes one. */
const FOUND_BY_LOOKING: readonly Badge[] = ['NO DNS', 'CERT', 'DRIFT']
export const isWrongByLook = ({ badge }: HostStatus): boolean => FOUND_BY_LOOKING.includes(badge)

/** The one that was served last, and what it is worth by now. */
function certificateAfter(
  { host, tls, sightings }: HostStatus,
  answer: EdgeAnswer,
  now: number,
): ServedCertificate | null {
  if (!tls) return null
  const served = answer.kind === 'answer' ? answer.certificate : undefined
  if (!served)
    return sightings.certificate && { ...sightings.certificate, level: certificateLevel(sightings.certificate, now) }
  const validity = { notBefore: Date.parse(served.notBefore), notAfter: Date.parse(served.notAfter) }
  return {
    ...validity,
    level: certificateLevel(validity, now),
    forHost: served.names.some((name) => covers(name, host)),
  }
}

const covers = (name: string, host: string): boolean =>
  name === host ||
  (name.startsWith('*.') && isInZone(host, name.slice(2)) && host.split('.').length === name.split('.').length)
