/** How often the event loop is asked whether it is on time, while anybody measures. */
const BEAT_MS = 20
/** A shorter delay is the ordinary haste of a busy machine, in which answers are still heard in time. */
const STALL_MS = 200
/** What is forgiven at most, in limits of the one who waits: a process that is always late must come to an end, too. */
const MOST_FORGIVEN = 3

/** Milliseconds by which the event loop was late so far, as seen by the beats that have come. */
let lateMs = 0
let lastBeat = 0
let beat: NodeJS.Timeout | undefined
let measuring = 0

/** Including the beat that is overdue at this moment: whoever runs before it must not take the delay for others' time. */
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
 * Measures how long somebody else took. The time in which this process could not listen, because its event loop was
 * blocked or it was not given the processor for a while, is not counted. Whoever starts a clock stops it.
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

  /** By how much this process was late since the clock was started. */
  get lateMs(): number {
    return latenessSoFar() - this.#lateBefore
  }

  /** Counted time since the clock was started. */
  get elapsedMs(): number {
    return performance.now() - this.#started - this.lateMs
  }

  /** Calls `end` once so much time has been counted since the start, unless the clock was stopped or this was called off before. */
  limit(limitMs: number, end: () => void): () => void {
    let timer: NodeJS.Timeout | undefined
    let isOff = false
    const callOff = () => {
      isOff = true
      clearTimeout(timer)
      this.#limits.delete(callOff)
    }
    const look = () => {
      const leftMs = this.#leftMs(limitMs)
      if (leftMs > 0) timer = setTimeout(look, Math.ceil(leftMs))
      // What has arrived meanwhile and waits to be read is read before.
      else setImmediate(() => isOff || end())
    }
    if (!this.#isStopped) {
      this.#limits.add(callOff)
      look()
    }
    return callOff
  }

  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    for (const callOff of [...this.#limits]) callOff()
    endMeasuring()
  }

  [Symbol.dispose](): void {
    this.stop()
  }

  #leftMs(limitMs: number): number {
    const everythingMs = performance.now() - this.#started
    return Math.min(limitMs - this.elapsedMs, (1 + MOST_FORGIVEN) * limitMs - everythingMs)
  }
}
