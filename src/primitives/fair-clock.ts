import { type Clock, systemClock, type Timer } from './clock.ts'

/** The interval at which the delay of the event loop is measured, while at least one clock runs. */
const BEAT_MS = 20
/** Shorter delays are normal on a busy machine, and answers are still read in time. */
const STALL_MS = 200
/** At most this many times the limit is not counted, so that a limit ends also in a process that is always late. */
const MAX_UNCOUNTED_LIMITS = 3

/** How late the event loop was, measured while at least one clock needs it. */
class Lateness {
  readonly #clock: Clock
  /** Milliseconds so far, as measured at the beats. */
  #lateMs = 0
  #lastBeat = 0
  #beat: Timer | undefined
  #measuring = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Includes the beat that is overdue now: code that runs before that beat must not count the delay as time of the peer.
   */
  get soFarMs(): number {
    return this.#lateMs + this.#since(this.#clock.monotonic())
  }

  begin(): void {
    this.#measuring += 1
    if (this.#measuring > 1) return
    this.#lastBeat = this.#clock.monotonic()
    this.#beat = this.#clock.every(BEAT_MS, () => {
      const now = this.#clock.monotonic()
      this.#lateMs += this.#since(now)
      this.#lastBeat = now
    })
  }

  end(): void {
    this.#measuring -= 1
    if (this.#measuring === 0) this.#beat?.cancel()
  }

  #since(now: number): number {
    const lateMs = now - this.#lastBeat - BEAT_MS
    return this.#measuring > 0 && lateMs > STALL_MS ? lateMs : 0
  }
}

/** All clocks that are built on the same one share the beats. */
const measured = new WeakMap<Clock, Lateness>()

function latenessOf(clock: Clock): Lateness {
  const lateness = measured.get(clock) ?? new Lateness(clock)
  measured.set(clock, lateness)
  return lateness
}

/**
 * Measures how long a peer takes to answer. Time in which this process could not read the answer, because its event
 * loop was blocked or it did not get the processor, is not counted. The owner of a clock must stop it.
 */
export class FairClock implements Disposable {
  /** The clock that it is built on. */
  readonly base: Clock
  readonly #lateness: Lateness
  readonly #started: number
  readonly #lateBefore: number
  readonly #limits = new Set<() => void>()
  #isStopped = false

  constructor(clock: Clock = systemClock) {
    this.base = clock
    this.#lateness = latenessOf(clock)
    this.#started = clock.monotonic()
    this.#lateness.begin()
    this.#lateBefore = this.#lateness.soFarMs
  }

  /** How late this process was since the clock was started. */
  get lateMs(): number {
    return this.#lateness.soFarMs - this.#lateBefore
  }

  /** Counted time since the clock was started. */
  get elapsedMs(): number {
    return this.base.monotonic() - this.#started - this.lateMs
  }

  /**
   * Calls `end` once when `limitMs` have been counted since the start, or when `signal` aborts before. It is never called
   * before this returns. Stopping the clock or calling the result cancels this.
   */
  limit(limitMs: number, end: () => void, signal?: AbortSignal): () => void {
    let timer: Timer | undefined
    let isCancelled = false
    const cancel = () => {
      isCancelled = true
      timer?.cancel()
      signal?.removeEventListener('abort', finish)
      this.#limits.delete(cancel)
    }
    const finish = () => {
      if (isCancelled) return
      cancel()
      end()
    }
    const check = () => {
      const leftMs = signal?.aborted ? 0 : this.#leftMs(limitMs)
      if (leftMs > 0) timer = this.base.after(Math.ceil(leftMs), check)
      // An answer that has arrived and waits to be read is read first.
      else void this.base.turn().then(finish)
    }
    if (!this.#isStopped) {
      this.#limits.add(cancel)
      signal?.addEventListener('abort', finish)
      check()
    }
    return cancel
  }

  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    for (const cancel of [...this.#limits]) cancel()
    this.#lateness.end()
  }

  [Symbol.dispose](): void {
    this.stop()
  }

  #leftMs(limitMs: number): number {
    const totalMs = this.base.monotonic() - this.#started
    return Math.min(limitMs - this.elapsedMs, (1 + MAX_UNCOUNTED_LIMITS) * limitMs - totalMs)
  }
}
