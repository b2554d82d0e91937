/** The interval at which the delay of the event loop is measured, while at least one clock runs. */
const BEAT_MS = 20
/** Shorter delays are normal on a busy machine, and answers are still read in time. */
const STALL_MS = 200
/** At most this many times the limit is not counted, so that a limit ends also in a process that is always late. */
const MAX_UNCOUNTED_LIMITS = 3

/** Milliseconds by which the event loop was late so far, as measured at the beats. */
let lateMs = 0
let lastBeat = 0
let beat: NodeJS.Timeout | undefined
let measuring = 0

/**
 * Includes the beat that is overdue now: code that runs before that beat must not count the delay as time of the peer.
 */
function latenessSoFar(): number {
  return lateMs + latenessOf(performance.now() - lastBeat)
}

const latenessOf = (sinceBeat: number): number =>
  measuring > 0 && sinceBeat - BEAT_MS > STALL_MS ? sinceBeat - BEAT_MS : 0

function beginMeasuring(): void {
  measuring += 1
  if (measuring > 1) return
  lastBeat = performance.now()
  beat = setInterval(() => {
    const now = performance.now()
    lateMs += latenessOf(now - lastBeat)
    lastBeat = now
  }, BEAT_MS)
}

function endMeasuring(): void {
  measuring -= 1
  if (measuring === 0) clearInterval(beat)
}

/**
 * Measures how long a peer takes to answer. Time in which this process could not read the answer, because its event
 * loop was blocked or it did not get the processor, is not counted. The owner of a clock must stop it.
 */
export class FairClock implements Disposable {
  readonly #started = performance.now()
  readonly #lateBefore: number
  readonly #limits = new Set<() => void>()
  #isStopped = false

  constructor() {
    beginMeasuring()
    this.#lateBefore = latenessSoFar()
  }

  /** How late this process was since the clock was started. */
  get lateMs(): number {
    return latenessSoFar() - this.#lateBefore
  }

  /** Counted time since the clock was started. */
  get elapsedMs(): number {
    return performance.now() - this.#started - this.lateMs
  }

  /**
   * Calls `end` once when `limitMs` have been counted since the start, or when `signal` aborts before. It is never called
   * before this returns. Stopping the clock or calling the result cancels this.
   */
  limit(limitMs: number, end: () => void, signal?: AbortSignal): () => void {
    let timer: NodeJS.Timeout | undefined
    let isCancelled = false
    const cancel = () => {
      isCancelled = true
      clearTimeout(timer)
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
      if (leftMs > 0) timer = setTimeout(check, Math.ceil(leftMs))
      // An answer that has arrived and waits to be read is read first.
      else setImmediate(finish)
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
    endMeasuring()
  }

  [Symbol.dispose](): void {
    this.stop()
  }

  #leftMs(limitMs: number): number {
    const totalMs = performance.now() - this.#started
    return Math.min(limitMs - this.elapsedMs, (1 + MAX_UNCOUNTED_LIMITS) * limitMs - totalMs)
  }
}
