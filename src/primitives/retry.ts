import { setTimeout as sleep } from 'node:timers/promises'

/** The pauses between tries: the first, and each further one `factor` times as long, up to `longestMs`. */
export interface Pauses {
  readonly firstMs: number
  /** 1 where it is left out: all pauses are equal. */
  readonly factor?: number
  readonly longestMs?: number
  /** Each pause is shorter or longer by up to this part of it, so that what failed together is not tried together again. */
  readonly spread?: number
}

/** How long it goes on. Without a limit it goes on for ever. */
export interface TryLimits extends Pauses {
  /** No pause begins that would end later than this after the first try. */
  readonly withinMs?: number
  readonly tries?: number
}

/** The pause after so many failed tries, 1 being the first. `chance` (0 to 1) says where in the spread it lies. */
export function pauseAfter(tries: number, pauses: Pauses, chance = Math.random()): number {
  const { firstMs, factor = 1, longestMs = Number.POSITIVE_INFINITY, spread = 0 } = pauses
  const pause = Math.min(firstMs * factor ** (tries - 1), longestMs)
  return pause * (1 + spread * (2 * chance - 1))
}

/**
 * Calls `look` until what it finds is `enough`, or until the limits allow no further try. Resolves with what was found last
 * either way; a `look` that rejects ends it. `atLeastMs` prolongs the pause after what was found.
 */
export async function poll<T>(
  look: (attempt: number) => T | Promise<T>,
  enough: (found: T) => boolean,
  limits: TryLimits & { readonly atLeastMs?: (found: T) => number },
): Promise<T> {
  const { withinMs = Number.POSITIVE_INFINITY, tries = Number.POSITIVE_INFINITY, atLeastMs } = limits
  const deadline = performance.now() + withinMs
  for (let attempt = 1; ; attempt += 1) {
    const found = await look(attempt)
    if (enough(found) || attempt >= tries) return found
    const pause = Math.max(pauseAfter(attempt, limits), atLeastMs?.(found) ?? 0)
    if (performance.now() + pause > deadline) return found
    await sleep(pause)
  }
}

/** Calls `work` until it resolves. Rejects with its last error: one that is not transient, or the one at which the limits were reached. */
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
