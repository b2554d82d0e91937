const FIRST_MS = 1_000
const LONGEST_MS = 2 * 3_600_000
const SPREAD = 0.2

/**
 * How long to wait after so many tries in vain: twice as long each time, up to two hours, a fifth more or less by `chance`
 * (0 to 1), so that what failed together is not tried together again. A receiver that names a longer wait is given it.
 */
export function pauseAfter(tries: number, chance: number, askedMs = 0): number {
  const base = Math.min(FIRST_MS * 2 ** Math.min(tries - 1, 30), LONGEST_MS)
  const spread = base * (1 + SPREAD * (2 * chance - 1))
  return Math.round(Math.max(spread, Math.min(askedMs, LONGEST_MS)))
}
