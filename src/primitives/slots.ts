interface Waiter {
  readonly start: () => void
  readonly reject: (reason: unknown) => void
}

/** Runs at most `count` pieces of work at the same time. Further ones wait, and begin in the order of the calls. */
export class Slots {
  #free: number
  readonly #waiting = new Set<Waiter>()

  constructor(count: number) {
    this.#free = count
  }

  /** Settles as `work` does. Work that still waits when `signal` aborts does not begin, and rejects with the reason. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    if (this.#free > 0) this.#free -= 1
    else await this.#wait(signal)
    try {
      return await work()
    } finally {
      this.#pass()
    }
  }

  /** Rejects everything that waits now. */
  rejectWaiting(reason: unknown): void {
    for (const { reject } of this.#waiting) reject(reason)
    this.#waiting.clear()
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise<void>((start, reject) => {
      const waiter = { start, reject }
      this.#waiting.add(waiter)
      signal?.addEventListener('abort', () => this.#waiting.delete(waiter) && reject(signal.reason), { once: true })
    })
  }

  #pass(): void {
    const [next] = this.#waiting
    if (!next) this.#free += 1
    else {
      this.#waiting.delete(next)
      next.start()
    }
  }
}
