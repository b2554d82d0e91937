import type { Clock } from '../primitives/clock.ts'
import { FairClock } from '../primitives/fair-clock.ts'

/** The time limit of one inspection. Every part has its own limit, and none ends after the whole. */
export class Deadline implements Disposable {
  readonly #clock: FairClock
  readonly #limitMs: number
  readonly #onFault: (error: unknown) => void

  /** `onFault` gets the error of a part that failed. */
  constructor(limitMs: number, onFault: (error: unknown) => void, clock: Clock) {
    this.#clock = new FairClock(clock)
    this.#limitMs = limitMs
    this.#onFault = onFault
  }

  /**
   * The result of `work`, or `otherwise` when the time is up. `work` gets its limit and should keep it. Work that would get
   * less than half of its limit is not started, because a timeout would mean nothing.
   */
  async within<T>(limitMs: number, work: (limitMs: number) => Promise<T>, otherwise: T): Promise<T> {
    const elapsedMs = this.#clock.elapsedMs
    const share = Math.min(limitMs, this.#limitMs - elapsedMs)
    if (share < limitMs / 2) return otherwise
    const { promise: timeIsUp, resolve } = Promise.withResolvers<T>()
    const cancelLimit = this.#clock.limit(elapsedMs + share + GRACE_MS, () => resolve(otherwise))
    return Promise.race([work(share), timeIsUp]).finally(cancelLimit)
  }

  /** The clock that limits of the parts are set on. */
  get clock(): Clock {
    return this.#clock.base
  }

  /** Like `within`, but an error of `work` is reported and replaced by `otherwise`, so that it does not affect other parts. */
  async attempt<T>(limitMs: number, work: (limitMs: number) => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await this.within(limitMs, work, otherwise)
    } catch (error) {
      this.#onFault(error)
      return otherwise
    }
  }

  [Symbol.dispose](): void {
    this.#clock.stop()
  }
}

/** Lets work that keeps its limit report its own timeout. */
const GRACE_MS = 50

/** The longest wait for one answer that leaves time for the checks that depend on it. */
const MAX_WAIT_MS = 3_000

/**
 * The wait for one answer in a diagnosis. It is as long as the monitor's wait, so that both report the same timeout. If a
 * diagnosis cannot wait that long, a timeout is reported as unknown.
 */
export class ProbeLimit {
  readonly #wholeMs: number
  readonly #deadline: Deadline

  constructor(wholeMs: number, deadline: Deadline) {
    this.#wholeMs = wholeMs
    this.#deadline = deadline
  }

  /** The result of `work`, or `unknown` when it timed out and the wait was shorter than the monitor's. */
  wait<T>(work: (limitMs: number) => Promise<T>, isTimeout: (seen: T) => boolean, unknown: T): Promise<T> {
    const share = Math.min(this.#wholeMs, MAX_WAIT_MS)
    return this.#deadline.attempt(
      share,
      async (limitMs) => {
        const seen = await work(limitMs)
        return limitMs < this.#wholeMs && isTimeout(seen) ? unknown : seen
      },
      unknown,
    )
  }
}
