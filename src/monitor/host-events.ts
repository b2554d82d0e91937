import type { CertificateLevel } from '../model/badge.ts'
import type { EventType, NewEvent } from '../model/event.ts'
import type { HostStatus } from '../model/host-status.ts'
import { isAlerted } from './trouble.ts'

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
  if (isAlerted(before) !== isAlerted(after)) {
    const since = after.trouble?.since ?? before.trouble?.since ?? about.at
    const facts = { badge: after.badge, since: new Date(since).toISOString() }
    events.push({ ...about, type: isAlerted(after) ? 'host.alert' : 'host.alert_ended', facts })
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
