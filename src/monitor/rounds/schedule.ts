/** The facts about a host that the schedule uses. Times are milliseconds since 1970. */
interface CheckedHost {
  readonly host: string
  readonly checkedAt: number | null
  /** When its checks began to fail. Null while they succeed. */
  readonly failingSince: number | null
}

const LONG_DOWN_MS = 600_000
/** The longest period of a host that is down, as a multiple of the normal period. */
const MOST_BACKOFF = 10
/** One of this many checks is a full check: it also checks DNS, files and the certificate. */
const CHECKS_PER_FULL_CHECK = 10

/**
 * The time of the next check. Each host has a fixed offset within the period, which spreads the checks of many hosts
 * evenly. A host that was never checked is due at once.
 */
export function nextCheck({ host, checkedAt, failingSince }: CheckedHost, everyMs: number): number {
  if (checkedAt === null) return 0
  const period = everyMs * backoff(failingSince === null ? 0 : checkedAt - failingSince)
  const offset = fractionOf(host) * period
  const earliest = checkedAt + period / 2
  return offset + Math.ceil((earliest - offset) / period) * period
}

/** The period doubles after ten minutes of failures, and again each time the failing time doubles. */
function backoff(failingMs: number): number {
  if (failingMs < LONG_DOWN_MS) return 1
  return Math.min(MOST_BACKOFF, 2 ** (1 + Math.floor(Math.log2(failingMs / LONG_DOWN_MS))))
}

/** Whether a check must be a full check. A host with a problem gets one every time, so that its badge clears at once. */
export function isFullCheckDue(
  host: string,
  fullCheckAt: number | null,
  isWrong: boolean,
  now: number,
  everyMs: number,
): boolean {
  // A time in the future is of a clock that was ahead, and tells nothing.
  if (fullCheckAt === null || isWrong || fullCheckAt > now) return true
  return now - fullCheckAt >= CHECKS_PER_FULL_CHECK * everyMs * (0.8 + 0.4 * fractionOf(host))
}

/** A number from 0 to 1 that is always the same for a name (FNV-1a hash). */
function fractionOf(name: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  return (hash >>> 0) / 2 ** 32
}
