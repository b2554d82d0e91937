import type { EdgeAnswer } from '../edge/contract.ts'
import { type Badge, type BadgeFacts, badgeOf, certificateLevel, learned, type Validity } from '../model/badge.ts'
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

/** What is known of a host at `now`: what the last check heard, and what the last look that could tell saw. */
export function factsOf({ managed, lastCheck, sightings }: HostStatus, now: number): BadgeFacts {
  const { dns, file, certificate } = sightings
  return {
    managed,
    answer: lastCheck && { httpStatus: lastCheck.httpStatus, reason: lastCheck.reason, entry: lastCheck.entry },
    dns,
    file,
    certificate: certificate && worthOf({ ...certificate, level: certificateLevel(certificate, now) }),
  }
}

/** The status after a check. `changed` is left to whoever keeps it. */
export function judged(before: HostStatus, { answer, look }: Seen, now: number): HostStatus {
  const answered = answer.kind === 'answer'
  const httpStatus = answered ? answer.httpStatus : null
  const latencyMs = answered ? answer.latencyMs : null
  const reason = answered ? null : answer.reason
  const certificate = certificateAfter(before, answer, now)
  const entry = answered ? answer.entry : undefined
  const facts = learned(factsOf(before, now), {
    managed: before.managed,
    answer: { httpStatus, reason, entry },
    dns: look?.dns ?? null,
    file: look?.file ?? null,
    certificate: certificate && worthOf(certificate),
  })
  const badge = badgeOf(facts)
  // What the host's own entry answered through the edge, and nothing else, counts as up.
  const ok = badgeOf({ ...facts, dns: null, file: null, certificate: null }) === 'RUNNING'
  return {
    ...before,
    badge,
    since: badge === before.badge ? before.since : now,
    lastCheck: { at: now, ok, httpStatus, latencyMs, reason, ...(entry && { entry }) },
    sightings: { at: look ? now : before.sightings.at, dns: facts.dns, file: facts.file, certificate },
    history: recorded(before.history, { at: now, ok, latencyMs }),
  }
}

/** The status once a certificate was proven by a handshake, before the next look. */
export function withCertificate(before: HostStatus, validity: Validity, now: number): HostStatus {
  const { notBefore, notAfter } = validity
  const certificate = { notBefore, notAfter, level: certificateLevel(validity, now), forHost: true }
  const status = { ...before, sightings: { ...before.sightings, certificate } }
  const badge = badgeOf(factsOf(status, now))
  return { ...status, badge, since: badge === before.badge ? before.since : now }
}

const worthOf = ({ forHost, level }: ServedCertificate): BadgeFacts['certificate'] => (forHost ? level : 'wrong_name')

/** What only a longer look finds out: while it is so, every check takes one. */
const FOUND_BY_LOOKING: readonly Badge[] = ['NO DNS', 'CERT', 'DRIFT']
export const isWrongByLook = ({ badge }: HostStatus): boolean => FOUND_BY_LOOKING.includes(badge)

/** The one that was served last, and what it is worth by now. */
function certificateAfter({ tls, sightings }: HostStatus, answer: EdgeAnswer, now: number): ServedCertificate | null {
  if (!tls) return null
  const served = answer.kind === 'answer' ? answer.certificate : undefined
  if (!served)
    return sightings.certificate && { ...sightings.certificate, level: certificateLevel(sightings.certificate, now) }
  const validity = { notBefore: Date.parse(served.notBefore), notAfter: Date.parse(served.notAfter) }
  return {
    ...validity,
    level: certificateLevel(validity, now),
    forHost: served.coversHost,
  }
}
