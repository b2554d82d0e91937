import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock, Timer } from '../primitives/clock.ts'

/** Each sample wakes the process. */
const RESOLUTION_MS = 20
const WINDOW_MS = 60_000

type Delays = ReturnType<typeof monitorEventLoopDelay>

/** How late timers of the event loop are. A reading covers the last full window and the time since then, and resets nothing. */
export class LoopDelay {
  readonly #clock: Clock
  #current: Delays | undefined
  #former: Delays | undefined
  #turns: Timer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  start(windowMs = WINDOW_MS): void {
    this.#current = startHistogram()
    this.#turns = this.#clock.every(windowMs, () => this.#turn(), { ref: false })
  }

  stop(): void {
    this.#turns?.cancel()
    this.#current?.disable()
  }

  /** In seconds. 0 before the start. */
  quantile(share: number): number {
    const late = [this.#current, this.#former].map((each) => each?.percentile(share * 100) ?? 0)
    // What is recorded is the time between two samples, the pause between them included.
    return Math.max(0, Math.max(...late) / 1e9 - RESOLUTION_MS / 1000)
  }

  #turn(): void {
    this.#current?.disable()
    this.#former = this.#current
    this.#current = startHistogram()
  }
}

function startHistogram(): Delays {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  return histogram
}
