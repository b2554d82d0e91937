/** What was set and can be taken back. Taking it back twice, or after it was called, does nothing. */
export interface Timer {
  cancel(): void
}

/** `ref: false`: the process may end before. */
interface TimerOptions {
  readonly ref?: boolean
}

/**
 * The time and the timers of the whole program. Every part is given one, so that a service can be built on a clock that
 * tests move. Its members can be passed on by themselves.
 */
export interface Clock {
  /** Milliseconds since 1970. May be set back. */
  readonly now: () => number
  /** Milliseconds since some moment. Never goes back, so it measures how long something takes. */
  readonly monotonic: () => number
  readonly after: (ms: number, call: () => void, options?: TimerOptions) => Timer
  readonly every: (ms: number, call: () => void, options?: TimerOptions) => Timer
  /** Resolves after this time, or as soon as `signal` aborts. */
  readonly sleep: (ms: number, options?: TimerOptions & { readonly signal?: AbortSignal | undefined }) => Promise<void>
  /** Resolves in the next turn of the event loop, after what has arrived by then was read. */
  readonly turn: () => Promise<void>
  /** Aborts after this time. The process may end before. */
  readonly timeout: (ms: number) => AbortSignal
}

/** `sleep` on the timers of a clock. */
export const sleepOn =
  ({ after }: Pick<Clock, 'after'>): Clock['sleep'] =>
  (ms, { signal, ref = true } = {}) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const end = () => {
        timer.cancel()
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const timer = after(ms, end, { ref })
      signal?.addEventListener('abort', end)
    })

const after: Clock['after'] = (ms, call, { ref = true } = {}) => {
  const timer = setTimeout(call, ms)
  if (!ref) unref(timer)
  return { cancel: () => clearTimeout(timer) }
}

/** In a browser a timer is a number. */
function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref()
}

/** The clock and the timers of the machine. Only this file names them: everything else is given a clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after,
  every: (ms, call, { ref = true } = {}) => {
    const timer = setInterval(call, ms)
    if (!ref) unref(timer)
    return { cancel: () => clearInterval(timer) }
  },
  sleep: sleepOn({ after }),
  turn: () => new Promise((resolve) => setImmediate(resolve)),
  timeout: (ms) => AbortSignal.timeout(ms),
}

/**
 * The time by which the kernel stamps files and processes, to be compared with such a stamp and with nothing else: no
 * other clock moves these.
 */
export const kernelTime = (): number => Date.now()
