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
 * Keeps a flood of public refusals from filling the audit. Per address and code, the first few refusals of a minute get
 * lines of their own. The rest are counted, and one line reports the count after the minute. When the table is full, new
 * addresses share one counter with the actor `others`. A minute ends with the first drain after it.
 */
export class RefusalFlood {
  readonly #tallies = new Map<string, Tally>()

  /** Returns `write` for an entry to write now, and `count` for an entry that was only counted. */
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

  /** The lines with the counts of minutes that have ended. */
  drain(now: number): AuditEntry[] {
    return this.#take((tally) => isOver(tally, now), now)
  }

  /** The lines with all counts, for shutdown. */
  drainAll(now: number): AuditEntry[] {
    return this.#take(() => true, now)
  }

  /** Restores the count of a drained line that could not be written. */
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

  #take(isDue: (tally: Tally) => boolean, now: number): AuditEntry[] {
    const taken = [...this.#tallies].filter(([, tally]) => isDue(tally))
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
