import { EventEmitter, once } from 'node:events'

/** Lets any number of followers wait for the same thing. */
export class WakeUp {
  readonly #emitter = new EventEmitter().setMaxListeners(0)

  /** Resolves with the next call, or when the follower has gone. Ask before looking: then no call is missed. */
  next(gone: AbortSignal): Promise<void> {
    return once(this.#emitter, 'call', { signal: gone }).then(
      () => undefined,
      () => undefined,
    )
  }

  call(): void {
    this.#emitter.emit('call')
  }
}

/** Looks again and again for all followers together, for as long as there is one. A look that fails is repeated like any other. */
export class SharedPoll {
  readonly #everyMs: number
  readonly #look: () => Promise<void>
  #followers = 0
  #timer: NodeJS.Timeout | undefined

  constructor(everyMs: number, look: () => Promise<void>) {
    this.#everyMs = everyMs
    this.#look = look
  }

  /** How many follow. */
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
    if (this.#followers > 0) await this.#look().catch(() => undefined)
    this.#timer = undefined
    if (this.#followers > 0) this.#schedule()
  }
}
