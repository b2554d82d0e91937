import { pauseAfter } from '../primitives/retry.ts'
import type { Log } from '../runtime/log.ts'
import type { EventStore } from '../store/ports/events.ts'
import type { LeaseStore } from '../store/ports/leases.ts'
import type { Transactions } from '../store/ports/store.ts'
import type { Delivery, WebhookStore } from '../store/ports/webhooks.ts'
import { wants } from './event-feed.ts'
import type { Hook, Send } from './webhook-request.ts'

export interface CourierParts {
  readonly store: WebhookStore & EventStore & LeaseStore & Transactions<WebhookStore>
  readonly log: Log
  readonly send: Send
  readonly now: () => number
  /** 0 to 1. */
  readonly chance: () => number
}

const PAGE = 200
/** Hosts that a receiver is told of at the same time: one that hangs over an event of one host keeps few others waiting. */
const AT_ONCE = 8

/** Brings the events of one webhook from its outbox to its receiver, those of one host one after the other. */
export class Courier {
  readonly hook: Hook
  readonly #parts: CourierParts
  /** Hosts with an event on its way. */
  readonly #onTheWay = new Map<string, Promise<void>>()
  /** How many deliveries have come to an end, good or bad. */
  #ended = 0
  /** Up to where events were put into the outbox; unknown before the first look. */
  #looked: number | undefined

  constructor(hook: Hook, parts: CourierParts) {
    this.hook = hook
    this.#parts = parts
  }

  /** Somebody else may have had the outbox since. */
  forget(): void {
    this.#looked = undefined
  }

  /** Puts new events into the outbox and sends what is due. Resolves when that has begun, not when it has arrived. */
  async round(head: number, gone: AbortSignal): Promise<void> {
    await this.#fill(head)
    await this.#sendDue(gone)
  }

  /** Waits for what is on its way. */
  async settled(): Promise<void> {
    await Promise.all(this.#onTheWay.values())
  }

  async #fill(head: number): Promise<void> {
    const { store, now } = this.#parts
    const { name } = this.hook
    let from: number = this.#looked ?? (await store.openWebhook(name))
    while (from < head) {
      const events = await store.readEvents(from, PAGE)
      const through = events.at(-1)?.seq ?? head
      const wanted = events.filter((event) => wants(this.hook, event))
      const looked = { from, through }
      const mine = await store.transaction((session) => session.queueDeliveries(name, wanted, looked, now()))
      from = mine ? through : await store.openWebhook(name)
    }
    this.#looked = from
  }

  async #sendDue(gone: AbortSignal): Promise<void> {
    const due = await this.#due()
    const next = due.filter(({ event }) => !this.#onTheWay.has(event.host))
    for (const delivery of next.slice(0, AT_ONCE - this.#onTheWay.size)) this.#begin(delivery, gone)
  }

  /** What arrives during the look makes the look worthless: it would be sent twice. */
  async #due(): Promise<Delivery[]> {
    const { store, now } = this.#parts
    const ended = this.#ended
    const due = await store.dueDeliveries(this.hook.name, now(), AT_ONCE)
    return ended === this.#ended ? due : this.#due()
  }

  #begin(delivery: Delivery, gone: AbortSignal): void {
    const { host } = delivery.event
    const { log } = this.#parts
    const way = this.#deliver(delivery, gone)
      .catch((error: unknown) => {
        log.error(
          { err: error, webhook: this.hook.name },
          'What became of a delivery could not be noted; it is sent again',
        )
        return false
      })
      .then(async (arrived) => {
        this.#onTheWay.delete(host)
        this.#ended += 1
        // The next one of this host need not wait for the next round.
        if (arrived && !gone.aborted) await this.#sendDue(gone).catch(() => undefined)
      })
    this.#onTheWay.set(host, way)
  }

  async #deliver({ event, tries }: Delivery, gone: AbortSignal): Promise<boolean> {
    const { store, log, send, now, chance } = this.#parts
    const { name, tries: mostTries } = this.hook
    const sent = await send(this.hook, event, now(), gone)
    if (gone.aborted && !sent.ok) return false
    const at = now()
    if (sent.ok) {
      await store.transaction((session) => session.settleDelivery(name, event.seq, at))
      return true
    }
    const failed = { at, tries: tries + 1, fault: sent.fault, dead: tries + 1 >= mostTries }
    const dueAt = at + deliveryPause(failed.tries, chance(), sent.retryAfterMs)
    await store.transaction((session) => session.postponeDelivery(name, event.seq, { ...failed, dueAt }))
    const about = { webhook: name, event: event.id, host: event.host, tries: failed.tries, fault: sent.fault }
    if (failed.dead) log.error(about, 'A webhook was given up on an event; it is kept as a dead letter')
    else if (tries === 0) log.warn(about, 'A webhook does not take an event; it is tried again')
    return false
  }
}

/** What failed together is not tried together again: each pause is up to a fifth shorter or longer. */
const PAUSES = { firstMs: 1_000, factor: 2, longestMs: 2 * 3_600_000, spread: 0.2 }

/** The pause after so many failed tries. A receiver that names a longer pause gets it, up to the longest of ours. */
export const deliveryPause = (tries: number, chance: number, askedMs = 0): number =>
  Math.round(Math.max(pauseAfter(tries, PAUSES, chance), Math.min(askedMs, PAUSES.longestMs)))
