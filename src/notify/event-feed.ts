import type { EventType, StoredEvent } from '../model/event.ts'
import type { Clock } from '../primitives/clock.ts'
import { SharedPoll, WakeUp } from '../primitives/followers.ts'
import type { ChangeFeed, EventStore } from '../store/ports/events.ts'

/** Selects events by type and host. An undefined member selects all. */
export interface EventFilter {
  readonly types?: ReadonlySet<EventType> | undefined
  readonly hosts?: ReadonlySet<string> | undefined
}

export const wants = ({ types, hosts }: EventFilter, { type, host }: Pick<StoredEvent, 'type' | 'host'>): boolean =>
  (types?.has(type) ?? true) && (hosts?.has(host) ?? true)

/** One poll of the store finds new events of every instance for all followers. The longer time counts while commits are told. */
const POLL_MS = 250
const TOLD_POLL_MS = 1_000
const PAGE = 200
/** The number of new events in memory. A follower that is further behind reads from the store. */
const MOST_RECENT = 1_000

/** The number of pages that one call of `newest` reads at most. */
const MOST_LOOKS_BACK = 50

type Events = Pick<EventStore, 'readEvents' | 'readEventsBefore' | 'eventHead'>

/** Streams events to any number of followers, from any position. */
export class EventFeed {
  readonly #store: Events
  readonly #closing = new AbortController()
  readonly #newEvents = new WakeUp()
  readonly #poll: SharedPoll
  /** The newest events up to `#read`, without a gap. */
  #recent: StoredEvent[] = []
  #read = 0

  constructor(store: Events, clock: Clock, changes?: ChangeFeed) {
    this.#store = store
    this.#poll = new SharedPoll(
      () => (changes?.isWatching() ? TOLD_POLL_MS : POLL_MS),
      () => this.#readNew(),
      clock,
    )
    const stop = changes?.watch(() => this.#poll.soon())
    if (stop) this.#closing.signal.addEventListener('abort', stop)
  }

  /** Events after `afterSeq` (or from now on if undefined), until the feed is closed or `gone` is aborted. */
  async follow(
    filter: EventFilter,
    afterSeq: number | undefined,
    gone: AbortSignal,
  ): Promise<AsyncGenerator<StoredEvent, void>> {
    const head = await this.#store.eventHead()
    return this.#events(filter, afterSeq ?? head, head, AbortSignal.any([gone, this.#closing.signal]))
  }

  /**
   * The newest events that the filter wants, oldest first: those before `before`, or all. One call looks at a bounded number of
   * events, so it may find fewer than `limit` although there are older ones: go on with `nextBefore`, undefined at the beginning.
   */
  async newest(
    filter: EventFilter,
    { before, limit }: { readonly before?: number | undefined; readonly limit: number },
  ): Promise<{ readonly events: readonly StoredEvent[]; readonly head: number; readonly nextBefore?: number }> {
    const head = await this.#store.eventHead()
    let end = Math.min(before ?? Number.POSITIVE_INFINITY, head + 1)
    const events: StoredEvent[] = []
    for (let looks = 0; looks < MOST_LOOKS_BACK && end > 1; looks += 1) {
      const page = await this.#store.readEventsBefore(end, PAGE)
      const found = page.filter((event) => wants(filter, event)).slice(-(limit - events.length))
      events.unshift(...found)
      const oldest = found[0]
      if (oldest && events.length === limit)
        return oldest.seq > 1 ? { events, head, nextBefore: oldest.seq } : { events, head }
      const [first] = page
      if (!first || page.length < PAGE) return { events, head }
      end = first.seq
    }
    return end > 1 ? { events, head, nextBefore: end } : { events, head }
  }

  /** Ends the events of every follower. Call it at shutdown. */
  close(): void {
    this.#closing.abort()
  }

  async *#events(
    filter: EventFilter,
    afterSeq: number,
    head: number,
    end: AbortSignal,
  ): AsyncGenerator<StoredEvent, void> {
    if (this.#poll.followers === 0) {
      this.#recent = []
      this.#read = head
    }
    this.#poll.join()
    try {
      for (let seen = afterSeq; !end.aborted; ) {
        const woken = this.#newEvents.next(end)
        const events = await this.#after(seen)
        for (const event of events) {
          seen = event.seq
          if (wants(filter, event)) yield event
        }
        if (events.length === 0) await woken
      }
    } finally {
      this.#poll.leave()
    }
  }

  async #after(seen: number): Promise<readonly StoredEvent[]> {
    if (seen >= this.#read) return []
    const first = this.#recent[0]
    if (first && first.seq <= seen + 1) return this.#recent.filter(({ seq }) => seq > seen)
    return this.#store.readEvents(seen, PAGE)
  }

  async #readNew(): Promise<void> {
    for (let more = true; more; ) {
      const events = await this.#store.readEvents(this.#read, PAGE)
      this.#recent = [...this.#recent, ...events].slice(-MOST_RECENT)
      this.#read = events.at(-1)?.seq ?? this.#read
      if (events.length > 0) this.#newEvents.call()
      more = events.length === PAGE
    }
  }
}
