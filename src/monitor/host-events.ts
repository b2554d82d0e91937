import type { CertificateLevel } from '../model/badge.ts'
import type { EventType, NewEvent } from '../model/event.ts'
import type { HostStatus } from '../model/host-status.ts'

const CERTIFICATE_EVENTS: Readonly<Record<CertificateLevel, EventType>> = {
  ok: 'certificate.recovered',
  warning: 'certificate.warning',
  critical: 'certificate.critical',
  expired: 'certificate.expired',
}

/** The events for the change from one status of a host to the next. */
export function eventsBetween(before: HostStatus, after: HostStatus, at: number): NewEvent[] {
  const { host, planId, lastCheck } = after
  const about = { at: lastCheck?.at ?? at, host, ...(planId !== null && { planId }) }
  const events: NewEvent[] = []
  if (before.badge !== after.badge) {
    const { httpStatus = null, reason = null } = lastCheck ?? {}
    events.push({
      ...about,
      type: 'host.badge',
      facts: { badge: after.badge, before: before.badge, httpStatus, reason },
    })
  }
  const { certificate } = after.fullCheck
  const levelBefore = before.fullCheck.certificate?.level ?? 'ok'
  if (certificate && certificate.level !== levelBefore) {
    const facts = {
      notAfter: new Date(certificate.notAfter).toISOString(),
      level: certificate.level,
      before: levelBefore,
    }
    events.push({ ...about, type: CERTIFICATE_EVENTS[certificate.level], facts })
  }
  return events
}
