import { type Clock, sleepOn, type Timer } from '../../src/primitives/clock.ts'

interface Pending {
  at: number
  readonly call: () => void
  /** Undefined: it is called once. */
  readonly everyMs: number | undefined
}

/** A clock that stands still until a test moves it. Its timers keep no process alive. */
export class VirtualClock implements Clock {
  readonly #startedAt: number
  readonly #pending = new Set<Pending>()
  #elapsedMs = 0
  #setBackMs = 0

  constructor(startedAt = Date.UTC(2026, 0, 1)) {
    this.#startedAt = startedAt
  }

  readonly now = (): number => this.#startedAt + this.#elapsedMs - this.#setBackMs
  readonly monotonic = (): number => this.#elapsedMs
  readonly after: Clock['after'] = (ms, call) => this.#add(ms, call)
  readonly every: Clock['every'] = (ms, call) => this.#add(ms, call, ms)
  readonly sleep = sleepOn(this)
  readonly turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  readonly timeout: Clock['timeout'] = (ms) => {
    const controller = new AbortController()
    this.after(ms, () => controller.abort(new DOMException('The time is over.', 'TimeoutError')))
    return controller.signal
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#pending.size
  }

  /** Sets the time of the day back, which moves no timer. */
  setBack(ms: number): void {
    this.#setBackMs += ms
  }

  /** Calls all timers that are due by then, in their order, also those that are set meanwhile. Promises settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsedMs + ms
    await this.turn()
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#elapsedMs = Math.max(this.#elapsedMs, next.at)
      if (next.everyMs === undefined) this.#pending.delete(next)
      else next.at += next.everyMs
      next.call()
      await this.turn()
    }
    this.#elapsedMs = end
  }

  /** Moves the time on, timer by timer, until `work` settles, and settles as it does. Rejects when no timer is left. */
  async advanceUntil<T>(work: Promise<T>): Promise<T> {
    let isSettled = false
    const settle = () => {
      isSettled = true
    }
    work.then(settle, settle)
    await this.turn()
    while (!isSettled) {
      const next = this.#next(Number.POSITIVE_INFINITY)
      if (!next) throw new Error('Nothing is left to wait for.')
      await this.advance(Math.max(0, next.at - this.#elapsedMs))
    }
    return work
  }

  #add(ms: number, call: () => void, everyMs?: number): Timer {
    const pending: Pending = { at: this.#elapsedMs + Math.max(1, ms), call, everyMs: everyMs && Math.max(1, everyMs) }
    this.#pending.add(pending)
    return { cancel: () => void this.#pending.delete(pending) }
  }

  /** The timer that is due first, and among equals the one that was set first. */
  #next(end: number): Pending | undefined {
    return [...this.#pending].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0]
  }
}
