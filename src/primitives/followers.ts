import { EventEmitter, once } from 'node:events'

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
export async function wokenWithin(wakeUp: WakeUp, ms: number, signal?: AbortSignal): Promise<void> {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), ms)
  await wakeUp.next(signal ? AbortSignal.any([signal, over.signal]) : over.signal)
  clearTimeout(timer)
}

/**
 * Calls `read` periodically for all followers together, while there is at least one. A failed read is retried at the
 * next time.
 */
export class SharedPoll {
  readonly #everyMs: () => number
  readonly #read: () => Promise<void>
  #followers = 0
  #timer: NodeJS.Timeout | undefined
  #isReading = false
  #isLate = false

  constructor(everyMs: () => number, read: () => Promise<void>) {
    this.#everyMs = everyMs
    this.#read = read
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
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.#run(), 0).unref()
    }
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.#run(), this.#isLate ? 0 : this.#everyMs()).unref()
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
