import type { StoredEvent } from '../../model/event.ts'

/** An event on its way to a webhook, tried so often. */
export interface Delivery {
  readonly event: StoredEvent
  readonly tries: number
}

/** An event that a webhook was not given in all its tries. */
interface DeadLetter extends Delivery {
  /** Why the last try failed. */
  readonly fault: string
}

interface FailedTry {
  readonly at: number
  readonly tries: number
  readonly dueAt: number
  readonly fault: string
  /** Given up: it stays as a dead letter until somebody revives it or it is too old to be kept. */
  readonly dead: boolean
}

export interface WebhookState {
  readonly delivered: number
  readonly pending: number
  readonly dead: number
  /** Something that is pending was tried before, in vain. */
  readonly failing: boolean
  readonly lastDeliveredAt: number | undefined
  readonly lastFailedAt: number | undefined
  readonly lastFault: string | undefined
}

/** The outbox of each webhook. */
export interface WebhookStore {
  /** Up to where events were put into this webhook's outbox. One that is new begins with the next event. */
  openWebhook(name: string): Promise<number>
  /** Puts events into a webhook's outbox and notes how far it was looked. False, and nothing done, when somebody else was there first. */
  queueDeliveries(
    hook: string,
    events: readonly StoredEvent[],
    looked: { readonly from: number; readonly through: number },
    dueAt: number,
  ): Promise<boolean>
  /** What may be sent now, oldest first: of each host only the earliest that is pending, so that a host's events keep their order. */
  dueDeliveries(hook: string, now: number, limit: number): Promise<Delivery[]>
  /** It arrived. */
  settleDelivery(hook: string, seq: number, at: number): Promise<void>
  postponeDelivery(hook: string, seq: number, failure: FailedTry): Promise<void>
  /** Newest first. */
  deadLetters(hook: string, limit: number): Promise<DeadLetter[]>
  /** Lets everything that waits or was given up be tried again now, from the first try on. How much that is. */
  reviveDeliveries(hook: string, now: number): Promise<number>
  webhookState(hook: string): Promise<WebhookState>
}
