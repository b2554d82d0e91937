import type { AuditEntry } from '../model/audit.ts'

const MINUTE = 60_000
const WRITTEN_PER_MINUTE = 5
const MOST_KEYS = 1_000
const OTHERS = 'others'

interface Tally {
  readonly actor: string
  readonly code: string | undefined
  readonly since: number
  written: number
  counted: number
}

/**
 * Keeps a flood of public refusals from filling the audit: per address and code the first few of a minute are written,
 * the rest is counted and told in one line when the minute is over. Whoever no longer fits in is counted together, as
 * `others`. A minute ends with the first drain after it.
 */
export class RefusalFlood {
  readonly #tallies = new Map<string, Tally>()

  /** Whether this entry is to be written now or has been counted. */
  note(entry: AuditEntry, now: number): 'write' | 'count' {
    if (entry.network !== 'public' || entry.outcome !== 'refused') return 'write'
    const tally = this.#tallyOf(entry.actor, entry.code, now)
    if (tally.written < WRITTEN_PER_MINUTE) {
      tally.written += 1
      return 'write'
    }
    tally.counted += 1
    return 'count'
  }

  /** The lines that tell what was counted in minutes that are over. */
  drain(now: number): AuditEntry[] {
    return this.#take((tally) => isOver(tally, now), now)
  }

  /** The same for every count there is, for the end of the service. */
  drainAll(now: number): AuditEntry[] {
    return this.#take(() => true, now)
  }

  /** Counts again what a drained line told, because the line could not be written. */
  putBack(line: AuditEntry): void {
    const tally = this.#tallyOf(line.actor, line.code, Number(line.facts?.since))
    tally.written = WRITTEN_PER_MINUTE
    tally.counted += Number(line.facts?.count)
  }

  #tallyOf(actor: string, code: string | undefined, now: number): Tally {
    const key = JSON.stringify([actor, code])
    const known = this.#tallies.get(key)
    if (known && (known.counted > 0 || !isOver(known, now))) return known
    if (!known && actor !== OTHERS && this.#tallies.size >= MOST_KEYS) return this.#tallyOf(OTHERS, undefined, now)
    const fresh: Tally = { actor, code, since: now, written: 0, counted: 0 }
    this.#tallies.set(key, fresh)
    return fresh
  }

  #take(ripe: (tally: Tally) => boolean, now: number): AuditEntry[] {
    const taken = [...this.#tallies].filter(([, tally]) => ripe(tally))
    for (const [key] of taken) this.#tallies.delete(key)
    return taken.filter(([, tally]) => tally.counted > 0).map(([, tally]) => toEntry(tally, now))
  }
}

const isOver = (tally: Tally, now: number): boolean => now - tally.since >= MINUTE

const toEntry = ({ actor, code, since, counted }: Tally, now: number): AuditEntry => ({
  at: now,
  actor,
  network: 'public',
  action: 'refusals',
  outcome: 'refused',
  code,
  facts: { count: counted, since },
})
