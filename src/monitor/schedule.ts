/** What the schedule needs to know of a host. Times are milliseconds since 1970. */
interface Standing {
  readonly host: string
  readonly checkedAt: number | null
  /** Since when its checks do not go well; null while they do. */
  readonly failingSince: number | null
}

const LONG_DOWN_MS = 600_000
/** A host that is down for long is asked this much less often at most. */
const MOST_BACKOFF = 10
/** DNS, files and the certificate are looked at once in so many checks. */
const CHECKS_PER_LOOK = 10

/**
 * When a host is to be checked next: at its own moment of every period, so that the checks of many hosts are spread
 * evenly whenever they began. One that was never checked is due at once.
 */
export function nextCheck({ host, checkedAt, failingSince }: Standing, everyMs: number): number {
  if (checkedAt === null) return 0
  const period = everyMs * backoff(failingSince === null ? 0 : checkedAt - failingSince)
  const moment = fractionOf(host) * period
  const earliest = checkedAt + period / 2
  return moment + Math.ceil((earliest - moment) / period) * period
}

/** Doubles from ten minutes on. */
function backoff(failingMs: number): number {
  if (failingMs < LONG_DOWN_MS) return 1
  return Math.min(MOST_BACKOFF, 2 ** (1 + Math.floor(Math.log2(failingMs / LONG_DOWN_MS))))
}

/** Whether a check takes the longer look. What was seen to be wrong is looked at every time, so that it turns right at once. */
export function isLookDue(
  host: string,
  lookedAt: number | null,
  isWrong: boolean,
  now: number,
  everyMs: number,
): boolean {
  if (lookedAt === null || isWrong) return true
  return now - lookedAt >= CHECKS_PER_LOOK * everyMs * (0.8 + 0.4 * fractionOf(host))
}

/** The hosts to check now: those that are due for longest, as many as there is room for. */
export function dueFirst(dueAt: ReadonlyMap<string, number>, now: number, room: number): string[] {
  const due: string[] = []
  for (const [host, at] of dueAt) if (at <= now) due.push(host)
  return due.length <= room ? due : due.sort((a, b) => (dueAt.get(a) ?? 0) - (dueAt.get(b) ?? 0)).slice(0, room)
}

/** 0 to 1, the same for a name every time: FNV-1a. */
function fractionOf(name: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  return (hash >>> 0) / 2 ** 32
}
