/** Everything that happens to a host and is told to whoever listens: event streams and webhooks. */
export const EVENT_TYPES = [
  'plan.refused',
  'exposure.applied',
  'exposure.extended',
  'exposure.rolled_back',
  'exposure.blocked',
  'exposure.removed',
  'exposure.expired',
  'host.badge',
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
  /** Flat, for machines. Never a secret: webhooks carry it out of the house. */
  readonly facts: Readonly<Record<string, string | number | boolean | null>>
}

/** An event in its place. Who has seen `seq` has seen everything that will ever stand before it. */
export interface StoredEvent extends NewEvent {
  readonly seq: number
  /** `evt_…`: the same in every stream and every delivery, so that a receiver can tell a repetition. */
  readonly id: string
}

/** An event as it is told outside: in the stream and, in the words of Standard Webhooks, in a webhook's body. */
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
