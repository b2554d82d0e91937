import { untilAborted } from './abort.ts'
import type { Clock } from './clock.ts'

/** The pauses between tries. Each pause is `factor` times as long as the one before, up to `longestMs`. */
export interface Pauses {
  readonly firstMs: number
  /** Default 1: all pauses are equal. */
  readonly factor?: number
  readonly longestMs?: number
  /**
   * Jitter: each pause is shorter or longer by up to this fraction, so that work that failed together is not retried
   * together.
   */
  readonly spread?: number
}

/** When to stop. Without a limit and without a signal the tries never stop. */
export interface TryLimits extends Pauses {
  readonly clock: Clock
  /** A pause that would end later than this after the first try does not begin. */
  readonly withinMs?: number
  readonly tries?: number
  /** When it aborts, the try or the pause that is under way ends the call, which rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

/** The pause after the given number of failed tries. `chance` (0 to 1) chooses the jitter within `spread`. */
export function pauseAfter(tries: number, pauses: Pauses, chance = Math.random()): number {
  const { firstMs, factor = 1, longestMs = Number.POSITIVE_INFINITY, spread = 0 } = pauses
  const pause = Math.min(firstMs * factor ** (tries - 1), longestMs)
  return pause * (1 + spread * (2 * chance - 1))
}

/**
 * Whether a pause is under way whose end was noted. An end that is further ahead than the longest pause was noted by a clock that was
 * ahead and is set right: when that pause ends is not known, so it counts as over.
 */
export const isPaused = (until: number, longestMs: number, now: number): boolean =>
  now < until && until - now <= longestMs

/**
 * Calls `read` until `enough` accepts the value, or until the limits allow no further try. Resolves with the last value
 * in both cases. Rejects when `read` rejects. `atLeastMs` may lengthen the pause after a value.
 */
export async function poll<T>(
  read: (attempt: number) => T | Promise<T>,
  enough: (value: T) => boolean,
  limits: TryLimits & { readonly atLeastMs?: (value: T) => number },
): Promise<T> {
  const { withinMs = Number.POSITIVE_INFINITY, tries = Number.POSITIVE_INFINITY, atLeastMs, signal, clock } = limits
  const deadline = clock.monotonic() + withinMs
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted()
    const value = await (signal ? untilAborted(Promise.resolve(read(attempt)), signal) : read(attempt))
    if (enough(value) || attempt >= tries) return value
    const pause = Math.max(pauseAfter(attempt, limits), atLeastMs?.(value) ?? 0)
    if (clock.monotonic() + pause > deadline) return value
    await clock.sleep(pause, { signal })
  }
}

/**
 * Calls `work` until it resolves. Rejects with the first error that is not transient, or with the last error at the
 * limits.
 */
export async function retry<T>(
  work: () => T | Promise<T>,
  isTransient: (error: unknown) => boolean,
  limits: TryLimits,
): Promise<T> {
  const attempt = async () => {
    try {
      return { value: await work() }
    } catch (error) {
      return { error }
    }
  }
  const last = await poll(attempt, (outcome) => !('error' in outcome) || !isTransient(outcome.error), limits)
  if ('error' in last) throw last.error
  return last.value
}
