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

/**
 * Calls `read` periodically for all followers together, while there is at least one. A failed read is retried at the
 * next time.
 */
export class SharedPoll {
  readonly #everyMs: number
  readonly #read: () => Promise<void>
  #followers = 0
  #timer: NodeJS.Timeout | undefined

  constructor(everyMs: number, read: () => Promise<void>) {
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

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.#run(), this.#everyMs).unref()
  }

  async #run(): Promise<void> {
    if (this.#followers > 0) await this.#read().catch(() => undefined)
    this.#timer = undefined
    if (this.#followers > 0) this.#schedule()
  }
}
