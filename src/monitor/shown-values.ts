import { stripOf, uptimeOf } from '../model/history.ts'
import type { HostStatus } from '../model/host-status.ts'

interface Shown {
  readonly facts: string
  readonly latencyMs: number | null
}

/** A latency within these bounds of the last one that was sent is noise. */
const NOTABLE_FACTOR = 2
const NOTABLE_MS = 200

/**
 * Decides which changes of a host are worth sending to an open list. Every check gives another latency, so sending each would
 * cost far more than it tells.
 */
export class ShownValues {
  readonly #hosts = new Map<string, Shown>()

  /**
   * Whether the list of a client shows something else now. A client whose host was not noted yet has loaded `former`. The first
   * status of a host is not a change.
   */
  note(status: HostStatus, former: HostStatus | undefined): boolean {
    const noted = this.#hosts.get(status.host)
    const before = noted ?? (former && shownOf(former))
    const now = shownOf(status)
    const isNew = before !== undefined && (before.facts !== now.facts || isNotable(before.latencyMs, now.latencyMs))
    if (isNew || !before) this.#hosts.set(status.host, now)
    else if (!noted) this.#hosts.set(status.host, before)
    return isNew
  }

  forget(host: string): void {
    this.#hosts.delete(host)
  }

  /** Call it when nobody listens any more. */
  clear(): void {
    this.#hosts.clear()
  }
}

const shownOf = (status: HostStatus): Shown => ({
  facts: factsOf(status),
  latencyMs: status.lastCheck?.latencyMs ?? null,
})

/** What must be shown exactly. A half hour without a failed check is left out: clients know it from the badge. */
function factsOf({
  history,
  lastCheck,
  fullCheck,
  tls,
  server,
  address,
  port,
  expiresAt,
  isBlocked,
}: HostStatus): string {
  const at = lastCheck?.at ?? 0
  const latest = stripOf(history, at).at(-1) ?? '-'
  const uptime = Math.floor((uptimeOf(history, at) ?? -1) * 1_000)
  const { certificate, secondary } = fullCheck
  const failing = latest === '9' ? '-' : latest
  return [
    uptime,
    failing,
    certificate?.notAfter,
    certificate?.level,
    secondary,
    tls,
    server,
    address,
    port,
    expiresAt,
    isBlocked,
  ].join()
}

function isNotable(before: number | null, now: number | null): boolean {
  if (before === null || now === null) return before !== now
  const [low, high] = before < now ? [before, now] : [now, before]
  return high - low > NOTABLE_MS && high > low * NOTABLE_FACTOR
}
