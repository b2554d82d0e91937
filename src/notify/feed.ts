import { setTimeout as sleep } from 'node:timers/promises'
import type { EventType, StoredEvent } from '../model/event.ts'
import type { Store } from '../store/contract.ts'

/** Which events somebody wants; all where nothing is said. */
export interface EventFilter {
  readonly types?: ReadonlySet<EventType> | undefined
  readonly hosts?: ReadonlySet<string> | undefined
}

export const wants = ({ types, hosts }: EventFilter, { type, host }: Pick<StoredEvent, 'type' | 'host'>): boolean =>
  (types?.has(type) ?? true) && (hosts?.has(host) ?? true)

/** Whatever instance an event comes from, it is found by looking. */
const LOOK_MS = 250
const PAGE = 200

/** Hands on events as they happen, from any place on, to any number of followers. */
export class EventFeed {
  readonly #store: Pick<Store, 'readEvents' | 'eventHead'>
  readonly #closing = new AbortController()

  constructor(store: Pick<Store, 'readEvents' | 'eventHead'>) {
    this.#store = store
  }

  /** Events after that place, or from now on, until the feed is closed or the follower has gone. */
  async follow(
    filter: EventFilter,
    afterSeq: number | undefined,
    gone: AbortSignal,
  ): Promise<AsyncGenerator<StoredEvent, void>> {
    const end = AbortSignal.any([gone, this.#closing.signal])
    return this.#events(filter, afterSeq ?? (await this.#store.eventHead()), end)
  }

  /** Ends every follower's events: the service shuts down. */
  close(): void {
    this.#closing.abort()
  }

  async *#events(filter: EventFilter, afterSeq: number, end: AbortSignal): AsyncGenerator<StoredEvent, void> {
    for (let seen = afterSeq; !end.aborted; ) {
      const events = await this.#store.readEvents(seen, PAGE)
      for (const event of events) {
        seen = event.seq
        if (wants(filter, event)) yield event
      }
      if (events.length === 0) await sleep(LOOK_MS, undefined, { ref: false, signal: end }).catch(() => undefined)
    }
  }
}
