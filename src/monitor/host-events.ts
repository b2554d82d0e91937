import type { CertificateLevel } from '../model/badge.ts'
import type { EventType, NewEvent } from '../model/event.ts'
import type { AlertRule, HostStatus } from '../model/host-status.ts'

const CERTIFICATE_EVENTS: Readonly<Record<CertificateLevel, EventType>> = {
  ok: 'certificate.recovered',
  warning: 'certificate.warning',
  critical: 'certificate.critical',
  expired: 'certificate.expired',
}

/** The events for the change from one status of a host to the next. */
export function eventsBetween(before: HostStatus, after: HostStatus, at: number): NewEvent[] {
  const { host, planId, lastCheck, mute } = after
  // No webhook sends an event with this fact.
  const silence: NewEvent['facts'] = mute ? { muted: true } : {}
  const about = { at: lastCheck?.at ?? at, host, ...(planId !== null && { planId }) }
  const events: NewEvent[] = []
  if (before.badge !== after.badge) {
    const { httpStatus = null, reason = null } = lastCheck ?? {}
    events.push({
      ...about,
      type: 'host.badge',
      facts: { badge: after.badge, before: before.badge, httpStatus, reason, ...silence },
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
      ...silence,
    }
    events.push({ ...about, type: CERTIFICATE_EVENTS[certificate.level], facts })
  }
  return events
}

/**
 * The status with the trouble that follows from its badge. One good check ends a trouble: a host that flaps faster than its rule
 * never alerts.
 */
export function withTrouble(status: HostStatus, before: HostStatus | undefined, rule: AlertRule): HostStatus {
  const { badge, lastCheck } = status
  if (badge === 'RUNNING' || badge === 'PENDING' || !lastCheck) return { ...status, trouble: null }
  const since = sinceOf(before?.trouble, lastCheck.at, rule)
  return { ...status, trouble: { since, isAlerted: !rule.isMuted && lastCheck.at - since >= rule.afterMs } }
}

/** A time in the future is of a clock that was set back since: the trouble counts from now on, and an alert stays one. */
function sinceOf(trouble: HostStatus['trouble'], now: number, { afterMs }: AlertRule): number {
  if (!trouble || trouble.since <= now) return trouble?.since ?? now
  return trouble.isAlerted ? now - afterMs : now
}

export const isAlerted = ({ trouble }: HostStatus): boolean => trouble?.isAlerted === true
