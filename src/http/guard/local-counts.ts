import type { FastifyRateLimitStore } from '@fastify/rate-limit'
import type { Clock } from '../../primitives/clock.ts'
import { LruCache } from '../../primitives/lru-cache.ts'

type Counted = Parameters<FastifyRateLimitStore['incr']>[1]

/** Counts the requests of this instance. Its windows end by a clock that nobody sets: that of the machine may have been ahead. */
export class LocalCounts implements FastifyRateLimitStore {
  readonly #clock: Clock
  readonly #most: number
  readonly #counts: LruCache<string, { readonly end: number; readonly current: number }>

  constructor(clock: Clock, most: number) {
    this.#clock = clock
    this.#most = most
    this.#counts = new LruCache(most)
  }

  incr(counted: string, done: Counted, windowMs: number): void {
    const now = this.#clock.monotonic()
    const known = this.#counts.get(counted)
    const isOpen = known !== undefined && known.end > now
    const next = isOpen ? { ...known, current: known.current + 1 } : { end: now + windowMs, current: 1 }
    this.#counts.set(counted, next)
    done(null, { current: next.current, ttl: next.end - now })
  }

  child(): LocalCounts {
    return new LocalCounts(this.#clock, this.#most)
  }
}
