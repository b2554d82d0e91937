/** The events of a host that event streams and webhooks deliver. */
export const EVENT_TYPES = [
  'plan.refused',
  'exposure.applied',
  'exposure.updated',
  'exposure.extended',
  'exposure.repaired',
  'exposure.released',
  'exposure.rolled_back',
  'exposure.blocked',
  'exposure.removed',
  'exposure.expired',
  'host.badge',
  'host.alert',
  'host.alert_ended',
  'host.muted',
  'host.unmuted',
  'certificate.warning',
  'certificate.critical',
  'certificate.expired',
  'certificate.recovered',
  'certificate.renewed',
  'certificate.renewal_failed',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

export interface NewEvent {
  readonly at: number
  readonly type: EventType
  readonly host: string
  readonly planId?: string | undefined
  /** A flat object for machines. It never holds a secret, because webhooks send it to other systems. */
  readonly facts: Readonly<Record<string, string | number | boolean | null>>
}

/** An event with its position. No event is ever inserted before an existing `seq`. */
export interface StoredEvent extends NewEvent {
  readonly seq: number
  /** `evt_…`: the same in every stream and delivery, so that a receiver recognizes a repetition. */
  readonly id: string
}

/** An event in the stream and in a webhook body. The members are those of Standard Webhooks. */
export interface EventJson {
  readonly id: string
  readonly seq: number
  readonly type: EventType
  readonly timestamp: string
  readonly data: Pick<NewEvent, 'host' | 'planId' | 'facts'>
}

export const eventJson = ({ id, seq, type, at, host, planId, facts }: StoredEvent): EventJson => ({
  id,
  seq,
  type,
  timestamp: new Date(at).toISOString(),
  data: { host, ...(planId !== undefined && { planId }), facts },
})
