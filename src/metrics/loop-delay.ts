import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock } from '../primitives/clock.ts'

const RESOLUTION_MS = 5
const WINDOW_MS = 60_000

type Delays = ReturnType<typeof monitorEventLoopDelay>

/** How late timers of the event loop are. A reading covers the last full window and the time since then, and resets nothing. */
export class LoopDelay {
  #current = startHistogram()
  #former: Delays | undefined

  constructor(clock: Clock, windowMs = WINDOW_MS) {
    clock.every(windowMs, () => this.#turn(), { ref: false })
  }

  /** In seconds. */
  quantile(share: number): number {
    const late = [this.#current, ...(this.#former ? [this.#former] : [])].map((each) => each.percentile(share * 100))
    // What is recorded is the time between two samples, the pause between them included.
    return Math.max(0, Math.max(...late) / 1e9 - RESOLUTION_MS / 1000)
  }

  #turn(): void {
    this.#current.disable()
    this.#former = this.#current
    this.#current = startHistogram()
  }
}

function startHistogram(): Delays {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  return histogram
}
