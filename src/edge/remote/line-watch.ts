import { connect } from 'node:net'
import type { Endpoint } from '../../model/address.ts'
import type { Clock, Timer } from '../../primitives/clock.ts'

const PROBE_MS = 2_000

/**
 * Detects a lost machine while a request waits for its answer. The connection itself would report the loss only after many minutes,
 * and would recover slowly when the machine is back.
 */
export class LineWatch {
  readonly #at: Endpoint
  readonly #onGone: () => void
  readonly #clock: Clock
  #awaited = 0
  #timer: Timer | undefined

  constructor(at: Endpoint, onGone: () => void, clock: Clock) {
    this.#at = at
    this.#onGone = onGone
    this.#clock = clock
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#awaited += 1
    this.#timer ??= this.#next()
    try {
      return await work()
    } finally {
      this.#awaited -= 1
      if (this.#awaited === 0) {
        this.#timer?.cancel()
        this.#timer = undefined
      }
    }
  }

  #next(): Timer {
    return this.#clock.after(PROBE_MS, () => void this.#look())
  }

  async #look(): Promise<void> {
    const isThere = await accepts(this.#at, this.#clock)
    if (this.#awaited === 0) return
    this.#timer = this.#next()
    if (!isThere) this.#onGone()
  }
}

/** Whether a new connection is accepted in time. */
const accepts = ({ address, port }: Endpoint, clock: Clock): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: address, port })
    const timer = clock.after(PROBE_MS, () => end(false))
    const end = (isThere: boolean) => {
      timer.cancel()
      socket.destroy()
      resolve(isThere)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
