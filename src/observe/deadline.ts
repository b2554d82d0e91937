/** The end of one look. Every part of it has a limit of its own, and none outlives the whole. */
export class Deadline {
  readonly #endsAt: number
  readonly #onFault: (error: unknown) => void

  /** `onFault` is told what kept a part from being looked at. */
  constructor(limitMs: number, onFault: (error: unknown) => void) {
    this.#endsAt = performance.now() + limitMs
    this.#onFault = onFault
  }

  /**
   * What `work` brings, or `otherwise` when the time is over before. Work is given its limit, to end by itself. What would
   * get less than half of the time that it wants is not begun: its silence would say nothing.
   */
  async within<T>(limitMs: number, work: (limitMs: number) => Promise<T>, otherwise: T): Promise<T> {
    const share = Math.min(limitMs, this.#endsAt - performance.now())
    if (share < limitMs / 2) return otherwise
    let timer: NodeJS.Timeout | undefined
    const timeIsUp = new Promise<T>((resolve) => {
      timer = setTimeout(() => resolve(otherwise), share + GRACE_MS)
    })
    return Promise.race([work(share), timeIsUp]).finally(() => clearTimeout(timer))
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
}

/** Whoever keeps to its limit may say so itself. */
const GRACE_MS = 50
