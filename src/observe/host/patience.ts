import type { Deadline } from '../deadline.ts'

/** What a diagnosis can wait for one answer and still look at what follows from it. */
const LONGEST_MS = 3_000

/**
 * How long an answer is waited for in a diagnosis: as long as the monitor waits, so that both call the same backend silent.
 * Where a diagnosis cannot wait that long, a silence that it has to cut short says nothing.
 */
export class Patience {
  readonly #wholeMs: number
  readonly #deadline: Deadline

  constructor(wholeMs: number, deadline: Deadline) {
    this.#wholeMs = wholeMs
    this.#deadline = deadline
  }

  /** What `work` brings, or `unknown` where nothing came and the wait was cut short. */
  wait<T>(work: (limitMs: number) => Promise<T>, isSilence: (seen: T) => boolean, unknown: T): Promise<T> {
    const share = Math.min(this.#wholeMs, LONGEST_MS)
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
