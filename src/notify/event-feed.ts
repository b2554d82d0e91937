import type { EventType, StoredEvent } from '../model/event.ts'
import { SharedPoll, WakeUp } from '../primitives/followers.ts'
import type { EventStore } from '../store/ports/events.ts'

/** Which events somebody wants; all where nothing is said. */
export interface EventFilter {
  readonly types?: ReadonlySet<EventType> | undefined
  readonly hosts?: ReadonlySet<string> | undefined
}

export const wants = ({ types, hosts }: EventFilter, { type, host }: Pick<StoredEvent, 'type' | 'host'>): boolean =>
  (types?.has(type) ?? true) && (hosts?.has(host) ?? true)

/** Whatever instance an event comes from, it is found by one look for all followers. */
const LOOK_MS = 250
const PAGE = 200
/** New events that are kept for followers who are about to take them. A follower further behind reads by itself. */
const MOST_RECENT = 1_000

/** Hands on events as they happen, from any place on, to any number of followers. */
export class EventFeed {
  readonly #store: Pick<EventStore, 'readEvents' | 'eventHead'>
  readonly #closing = new AbortController()
  readonly #news = new WakeUp()
  readonly #poll = new SharedPoll(LOOK_MS, () => this.#look())
  /** The newest events up to `#read`, without a gap. */
  #recent: StoredEvent[] = []
  #read = 0

  constructor(store: Pick<EventStore, 'readEvents' | 'eventHead'>) {
    this.#store = store
  }

  /** Events after that place, or from now on, until the feed is closed or the follower has gone. */
  async follow(
    filter: EventFilter,
    afterSeq: number | undefined,
    gone: AbortSignal,
  ): Promise<AsyncGenerator<StoredEvent, void>> {
    const head = await this.#store.eventHead()
    return this.#events(filter, afterSeq ?? head, head, AbortSignal.any([gone, this.#closing.signal]))
  }

  /** Ends every follower's events: the service shuts down. */
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
        const woken = this.#news.next(end)
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

  async #look(): Promise<void> {
    for (let more = true; more; ) {
      const events = await this.#store.readEvents(this.#read, PAGE)
      this.#recent = [...this.#recent, ...events].slice(-MOST_RECENT)
      this.#read = events.at(-1)?.seq ?? this.#read
      if (events.length > 0) this.#news.call()
      more = events.length === PAGE
    }
  }
}
