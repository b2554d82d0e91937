import type { Clock } from '../../primitives/clock.ts'
import { LruCache } from '../../primitives/lru-cache.ts'
import type { RequestCount, RequestCountStore } from '../../store/ports/request-counts.ts'

const MOST_KNOWN = 20_000

/**
 * Counts requests together with the other instances. Requests that come while the store counts are counted together by its next
 * statement. A store that does not answer counts nothing: then each instance has only its own counts.
 */
export class SharedCounts {
  readonly #store: RequestCountStore
  readonly #windowMs: number
  readonly #clock: Clock
  readonly #known = new LruCache<string, RequestCount>(MOST_KNOWN)
  #waiting = new Map<string, number>()
  #counting: Promise<void> | undefined

  constructor(store: RequestCountStore, windowMs: number, clock: Clock) {
    this.#store = store
    this.#windowMs = windowMs
    this.#clock = clock
  }

  /** Counts one request. Resolves when the store has counted it. */
  async add(counted: string): Promise<void> {
    this.#waiting.set(counted, (this.#waiting.get(counted) ?? 0) + 1)
    // The count that is under way may have begun without this request.
    await this.#counting
    this.#counting ??= this.#countWaiting().finally(() => {
      this.#counting = undefined
    })
    await this.#counting
  }

  /** As far as this instance knows. Undefined if the window is over. */
  find(counted: string): RequestCount | undefined {
    const known = this.#known.get(counted)
    const leftMs = known ? known.windowEnd - this.#clock.now() : 0
    // A window that ends later than a new one was begun by a clock that was ahead.
    return leftMs > 0 && leftMs <= this.#windowMs ? known : undefined
  }

  async #countWaiting(): Promise<void> {
    const added = this.#waiting
    if (added.size === 0) return
    this.#waiting = new Map()
    const counts = await this.#store.countRequests(added, this.#clock.now(), this.#windowMs).catch(() => new Map())
    for (const [counted, count] of counts) this.#known.set(counted, count)
  }
}
