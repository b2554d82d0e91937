import { FairClock } from '../fair-clock.ts'

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
