import { EventEmitter, once } from 'node:events'
import type { Clock, Timer } from './clock.ts'

/** A signal that any number of followers can wait for. */
export class WakeUp {
  readonly #emitter = new EventEmitter().setMaxListeners(0)

  /**
   * Resolves with the next call, or when `signal` aborts. Call it before reading the state, so that no call is missed.
   */
  next(signal: AbortSignal): Promise<void> {
    return once(this.#emitter, 'call', { signal }).then(
      () => undefined,
      () => undefined,
    )
  }

  call(): void {
    this.#emitter.emit('call')
  }
}

/** Resolves with the next call of `wakeUp`, after `ms`, or when `signal` aborts. */
export async function wokenWithin(wakeUp: WakeUp, ms: number, clock: Clock, signal?: AbortSignal): Promise<void> {
  const over = new AbortController()
  const timer = clock.after(ms, () => over.abort())
  await wakeUp.next(signal ? AbortSignal.any([signal, over.signal]) : over.signal)
  timer.cancel()
}

/**
 * Calls `read` periodically for all followers together, while there is at least one. A failed read is retried at the
 * next time.
 */
export class SharedPoll {
  readonly #everyMs: () => number
  readonly #read: () => Promise<void>
  readonly #clock: Clock
  #followers = 0
  #timer: Timer | undefined
  #isReading = false
  #isLate = false

  constructor(everyMs: () => number, read: () => Promise<void>, clock: Clock) {
    this.#everyMs = everyMs
    this.#read = read
    this.#clock = clock
  }

  get followers(): number {
    return this.#followers
  }

  join(): void {
    this.#followers += 1
    this.#schedule()
  }

  leave(): void {
    this.#followers -= 1
  }

  /** Reads now if anybody follows. A call during a read is followed by a further read. */
  soon(): void {
    if (this.#followers === 0) return
    if (this.#isReading) this.#isLate = true
    else {
      this.#timer?.cancel()
      this.#timer = this.#runAfter(0)
    }
  }

  #schedule(): void {
    this.#timer ??= this.#runAfter(this.#isLate ? 0 : this.#everyMs())
  }

  #runAfter(ms: number): Timer {
    return this.#clock.after(ms, () => void this.#run(), { ref: false })
  }

  async #run(): Promise<void> {
    this.#isReading = true
    this.#isLate = false
    if (this.#followers > 0) await this.#read().catch(() => undefined)
    this.#isReading = false
    this.#timer = undefined
    if (this.#followers > 0) this.#schedule()
  }
}
