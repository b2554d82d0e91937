import type { StepName } from '../../model/run.ts'
import type { Clock } from '../../primitives/clock.ts'

/**
 * The longest time of each step, waiting for locks included. `docs/architecture.md` shows the same table. An order may wait for
 * an authority; a change of an edge may wait for its lock, a test of a large configuration and the workers that must go.
 */
export const STEP_LIMITS_SECONDS: Readonly<Record<StepName, number>> = {
  check: 60,
  backup: 60,
  certificate: 900,
  proxy: 300,
  'proxy-tls': 300,
  dns: 90,
  verify: 90,
}

/** A renewal reads the certificate of each of its hosts by a handshake, so its verification may take longer with each. */
export const VERIFY_MORE_MS = 50

/** How long a step may take to stop after its waits were ended. */
const GRACE_MS = 10_000

/** The limit of the step that is under way. One for each run. */
export class StepLimit {
  readonly #clock: Clock
  readonly #hosts: number
  #signal = AbortSignal.any([])

  /** `hosts`: how many the run changes. */
  constructor(clock: Clock, hosts = 1) {
    this.#clock = clock
    this.#hosts = hosts
  }

  of(step: string): number {
    const more = step === 'verify' ? (this.#hosts - 1) * VERIFY_MORE_MS : 0
    return STEP_LIMITS_SECONDS[step as StepName] * 1000 + more
  }

  /** Aborted with the fault when the step that is under way has reached its limit. */
  get signal(): AbortSignal {
    return this.#signal
  }

  /** `overdue` is called if the step has not ended a while after its limit. */
  begin(step: string, fault: Error, overdue: () => void): { end(): void } {
    const controller = new AbortController()
    this.#signal = controller.signal
    let timer = this.#clock.after(this.of(step), () => {
      controller.abort(fault)
      timer = this.#clock.after(GRACE_MS, overdue)
    })
    return { end: () => timer.cancel() }
  }
}
