import type { StoredEvent } from '../../model/event.ts'

/** An event that is queued for a webhook, and the number of failed tries so far. */
export interface Delivery {
  readonly event: StoredEvent
  readonly tries: number
}

/** An event whose delivery was given up. */
interface DeadLetter extends Delivery {
  /** Why the last try failed. */
  readonly fault: string
}

interface FailedTry {
  readonly at: number
  readonly tries: number
  readonly dueAt: number
  readonly fault: string
  /** Whether the delivery is given up. The event stays as a dead letter until it is revived or pruned. */
  readonly dead: boolean
}

export interface WebhookState {
  readonly delivered: number
  readonly pending: number
  readonly dead: number
  /** Whether a pending delivery has failed at least once. */
  readonly failing: boolean
  readonly lastDeliveredAt: number | undefined
  readonly lastFailedAt: number | undefined
  readonly lastFault: string | undefined
}

/** The queue of undelivered events (outbox) of each webhook. */
export interface WebhookStore {
  /**
   * The sequence number up to which events were queued for this webhook. Repeatable. The first call for a name creates
   * the webhook, which begins with the next event.
   */
  openWebhook(name: string): Promise<number>
  /**
   * Queues those events of the range (`from`, `through`] that the webhook wants, and records `through`. False, and
   * nothing is queued, when another instance moved the webhook past `from` first. Only inside a transaction, because it
   * writes twice.
   */
  queueDeliveries(
    hook: string,
    events: readonly StoredEvent[],
    range: { readonly from: number; readonly through: number },
    dueAt: number,
  ): Promise<boolean>
  /**
   * Deliveries that are due, oldest first, at most `limit`. Of each host only the earliest pending delivery is
   * included, so that the events of a host arrive in order. One that would wait for longer than `longestMs` was put off by a
   * clock that was ahead: it is due.
   */
  dueDeliveries(hook: string, now: number, longestMs: number, limit: number): Promise<Delivery[]>
  /** Removes a delivery that arrived and counts it. Repeatable: counted once. Only inside a transaction. */
  settleDelivery(hook: string, seq: number, at: number): Promise<void>
  /** Records a failed try. Only inside a transaction. */
  postponeDelivery(hook: string, seq: number, failure: FailedTry): Promise<void>
  /** Dead letters, newest first, at most `limit`. */
  deadLetters(hook: string, limit: number): Promise<DeadLetter[]>
  /** Makes all pending and dead deliveries due at `now` and resets their tries. Resolves with their number. */
  reviveDeliveries(hook: string, now: number): Promise<number>
  webhookState(hook: string): Promise<WebhookState>
}
