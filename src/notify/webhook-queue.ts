import type { Clock } from '../primitives/clock.ts'
import { pauseAfter } from '../primitives/retry.ts'
import type { Log } from '../runtime/log.ts'
import type { EventStore } from '../store/ports/events.ts'
import type { LeaseStore } from '../store/ports/leases.ts'
import type { Transactions } from '../store/ports/store.ts'
import type { Delivery, WebhookStore } from '../store/ports/webhooks.ts'
import { wants } from './event-feed.ts'
import type { Hook, Send } from './webhook-request.ts'

export interface WebhookQueueParts {
  readonly store: WebhookStore & EventStore & LeaseStore & Transactions<WebhookStore>
  readonly log: Log
  readonly send: Send
  readonly clock: Clock
  /** A random number from 0 to 1, for the spread of pauses. */
  readonly chance: () => number
}

const PAGE = 200
/** Deliveries to one receiver at the same time, each for another host. A slow event of one host does not delay the others. */
const AT_ONCE = 8

/**
 * After an answer with few deliveries the store is asked again when something was queued or has ended, and otherwise after this time: what
 * a pause or a command has made due. To look through the backlog of a receiver that is gone takes the store many milliseconds.
 */
const QUIET_MS = 1_000

/** Delivers the events of one webhook from its outbox to its receiver. The events of one host are delivered in order. */
export class WebhookQueue {
  readonly hook: Hook
  readonly #parts: WebhookQueueParts
  readonly #assertHeld: () => void
  /** Hosts with a running delivery. */
  readonly #running = new Map<string, Promise<void>>()
  #hasEnded = false
  /** The number of finished deliveries, successful or not. */
  #ended = 0
  /** Before this time nothing can be due, as far as this process knows. */
  #asksAt = Number.NEGATIVE_INFINITY
  /** The position up to which events are in the outbox. Undefined before it is read from the store. */
  #queuedThrough: number | undefined

  /** `assertHeld` throws if another instance may deliver by now. Asked before each write. */
  constructor(hook: Hook, parts: WebhookQueueParts, assertHeld: () => void) {
    this.hook = hook
    this.#assertHeld = assertHeld
    this.#parts = parts
  }

  /** Reads the position from the store again. Call it when another instance may have used the outbox. */
  resetPosition(): void {
    this.#queuedThrough = undefined
    this.#asksAt = Number.NEGATIVE_INFINITY
  }

  /** Adds new events to the outbox and starts the deliveries that are due. Does not wait for them. */
  async round(head: number, gone: AbortSignal): Promise<void> {
    await this.#fill(head)
    await this.#sendDue(gone)
  }

  /** Begins no more deliveries. Resolves when none is running. */
  async end(): Promise<void> {
    this.#hasEnded = true
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  async #fill(head: number): Promise<void> {
    const { store, clock } = this.#parts
    const { name } = this.hook
    let from: number = this.#queuedThrough ?? (await store.openWebhook(name))
    while (from < head) {
      const events = await store.readEvents(from, PAGE)
      const through = events.at(-1)?.seq ?? head
      // What the monitor saw of a muted host is in the streams, and nobody is woken by it.
      const wanted = events.filter((event) => wants(this.hook, event) && event.facts.muted !== true)
      const range = { from, through }
      this.#assertHeld()
      const isQueued = await store.transaction((session) => session.queueDeliveries(name, wanted, range, clock.now()))
      from = isQueued ? through : await store.openWebhook(name)
      if (wanted.length > 0) this.#asksAt = Number.NEGATIVE_INFINITY
    }
    this.#queuedThrough = from
  }

  async #sendDue(gone: AbortSignal): Promise<void> {
    if (this.#parts.clock.monotonic() < this.#asksAt) return
    const due = await this.#due()
    if (this.#hasEnded) return
    const next = due.filter(({ event }) => !this.#running.has(event.host))
    for (const delivery of next.slice(0, AT_ONCE - this.#running.size)) this.#begin(delivery, gone)
  }

  /** Reads again if a delivery ended during the read: the result could contain it, and it would be sent twice. */
  async #due(): Promise<Delivery[]> {
    const { store, clock } = this.#parts
    const ended = this.#ended
    this.#asksAt = Number.NEGATIVE_INFINITY
    const due = await store.dueDeliveries(this.hook.name, clock.now(), LONGEST_MS, AT_ONCE)
    if (ended !== this.#ended) return this.#due()
    if (due.length < AT_ONCE) this.#asksAt = clock.monotonic() + QUIET_MS
    return due
  }

  #begin(delivery: Delivery, gone: AbortSignal): void {
    const { host } = delivery.event
    const { log } = this.#parts
    const running = this.#deliver(delivery, gone)
      .catch((error: unknown) => {
        log.error(
          { event: 'webhook_result_not_stored', err: error, webhook: this.hook.name },
          `The result of a delivery to webhook ${this.hook.name} could not be stored; the event will be sent again.`,
        )
        return false
      })
      .then(async (arrived) => {
        this.#running.delete(host)
        this.#ended += 1
        this.#asksAt = Number.NEGATIVE_INFINITY
        // The next event of this host does not wait for the next round.
        if (arrived && !gone.aborted) await this.#sendDue(gone).catch(() => undefined)
      })
    this.#running.set(host, running)
  }

  async #deliver({ event, tries }: Delivery, gone: AbortSignal): Promise<boolean> {
    const { store, log, send, clock, chance } = this.#parts
    const { name, tries: mostTries } = this.hook
    const sent = await send(this.hook, event, clock.now(), gone)
    if (gone.aborted && !sent.ok) return false
    this.#assertHeld()
    const at = clock.now()
    if (sent.ok) {
      await store.transaction((session) => session.settleDelivery(name, event.seq, at))
      return true
    }
    const failed = { at, tries: tries + 1, fault: sent.fault, dead: tries + 1 >= mostTries }
    const dueAt = at + deliveryPause(failed.tries, chance(), sent.retryAfterMs)
    await store.transaction((session) => session.postponeDelivery(name, event.seq, { ...failed, dueAt }))
    const about = { webhook: name, eventId: event.id, host: event.host, tries: failed.tries, fault: sent.fault }
    if (failed.dead)
      log.error(
        { event: 'webhook_delivery_abandoned', ...about },
        `Webhook ${name} did not accept an event after ${failed.tries} tries; the event is kept as a dead letter.`,
      )
    else if (tries === 0)
      log.warn({ event: 'webhook_delivery_failed', ...about }, `Webhook ${name} did not accept an event; retrying.`)
    return false
  }
}

/** Each pause is up to a fifth shorter or longer, so that deliveries that failed together are not retried together. */
const PAUSES = { firstMs: 1_000, factor: 2, longestMs: 2 * 3_600_000, spread: 0.2 }
const LONGEST_MS = PAUSES.longestMs * (1 + PAUSES.spread)

/** The pause after `tries` failed tries. A receiver can ask for a longer pause, up to `longestMs`. */
export const deliveryPause = (tries: number, chance: number, askedMs = 0): number =>
  Math.round(Math.max(pauseAfter(tries, PAUSES, chance), Math.min(askedMs, PAUSES.longestMs)))
