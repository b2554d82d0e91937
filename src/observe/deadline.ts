import { FairClock } from '../primitives/fair-clock.ts'

/** The end of one look. Every part of it has a limit of its own, and none outlives the whole. */
export class Deadline implements Disposable {
  readonly #clock = new FairClock()
  readonly #limitMs: number
  readonly #onFault: (error: unknown) => void

  /** `onFault` is told what kept a part from being looked at. */
  constructor(limitMs: number, onFault: (error: unknown) => void) {
    this.#limitMs = limitMs
    this.#onFault = onFault
  }

  /**
   * What `work` brings, or `otherwise` when the time is over before. Work is given its limit, to end by itself. What would
   * get less than half of the time that it wants is not begun: its silence would say nothing.
   */
  async within<T>(limitMs: number, work: (limitMs: number) => Promise<T>, otherwise: T): Promise<T> {
    const elapsedMs = this.#clock.elapsedMs
    const share = Math.min(limitMs, this.#limitMs - elapsedMs)
    if (share < limitMs / 2) return otherwise
    const { promise: timeIsUp, resolve } = Promise.withResolvers<T>()
    const callOff = this.#clock.limit(elapsedMs + share + GRACE_MS, () => resolve(otherwise))
    return Promise.race([work(share), timeIsUp]).finally(callOff)
  }

  /** The same for one link of several: whatever else keeps it from being seen leaves the others alone. */
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

/** Whoever keeps to its limit may say so itself. */
const GRACE_MS = 50

/** What a diagnosis can wait for one answer and still look at what follows from it. */
const MAX_WAIT_MS = 3_000

/**
 * How long an answer is waited for in a diagnosis: as long as the monitor waits, so that both call the same backend silent.
 * Where a diagnosis cannot wait that long, a silence that it has to cut short says nothing.
 */
export class ProbeLimit {
  readonly #wholeMs: number
  readonly #deadline: Deadline

  constructor(wholeMs: number, deadline: Deadline) {
    this.#wholeMs = wholeMs
    this.#deadline = deadline
  }

  /** What `work` brings, or `unknown` where nothing came and the wait was cut short. */
  wait<T>(work: (limitMs: number) => Promise<T>, isSilence: (seen: T) => boolean, unknown: T): Promise<T> {
    const share = Math.min(this.#wholeMs, MAX_WAIT_MS)
    return this.#deadline.attempt(
      share,
      async (limitMs) => {
        const seen = await work(limitMs)
        return limitMs < this.#wholeMs && isSilence(seen) ? unknown : seen
      },
      unknown,
    )
  }
}
