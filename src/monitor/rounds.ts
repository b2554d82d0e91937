import type { EdgeVisitor } from '../edge/contract.ts'
import type { Log } from '../log.ts'
import type { HostStatus, Sightings } from '../model/host-status.ts'
import type { Board } from './board.ts'
import { isWrongByLook, judged } from './judge.ts'
import type { Keeper } from './keeper.ts'
import type { Roll } from './roll.ts'
import { dueFirst, isLookDue, nextCheck } from './schedule.ts'
import type { Held } from './watched.ts'

export interface RoundsParts {
  readonly board: Board
  readonly keeper: Keeper
  readonly roll: Roll
  readonly visitor: EdgeVisitor
  /** Compares an exposure with DNS and the edge's files. */
  readonly compare: (held: Held) => Promise<Pick<Sightings, 'dns' | 'file'>>
  readonly everyMs: number
  readonly atOnce: number
  readonly log: Log
  readonly now: () => number
}

/** Checks the hosts that are due, so many at a time. */
export class Rounds {
  readonly #parts: RoundsParts
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #due = new Map<string, { readonly host: string; dueAt: number }>()

  constructor(parts: RoundsParts) {
    this.#parts = parts
  }

  begin(): void {
    const { board, atOnce, roll, log, now } = this.#parts
    if (this.#due.size + this.#underWay.size !== board.size) this.#enlist()
    for (const entry of dueFirst(this.#due.values(), now(), atOnce - this.#underWay.size)) {
      const status = board.find(entry.host)
      this.#due.delete(entry.host)
      if (!status || roll.isPaused(entry.host)) continue
      const check = this.#check(status)
        .catch((error: unknown) => log.error({ err: error, host: entry.host }, 'A check failed'))
        .finally(() => {
          this.#underWay.delete(entry.host)
          this.#enter(entry.host)
        })
      this.#underWay.set(entry.host, check)
    }
  }

  async ended(): Promise<void> {
    await Promise.all(this.#underWay.values())
  }

  async #check(status: HostStatus): Promise<void> {
    const { board, keeper, visitor, everyMs, now } = this.#parts
    const { host, path, tls, door } = status
    const look = isLookDue(host, status.sightings.at, isWrongByLook(status), now(), everyMs)
    const [answer, compared] = await Promise.all([
      visitor.visit({ host, path, tls, door, full: look }),
      look ? this.#compare(host) : undefined,
    ])
    const present = board.find(host)
    // A run may have begun or ended meanwhile: then what was seen is of another time.
    if (present?.planId !== status.planId || this.#parts.roll.isPaused(host)) return
    keeper.put(judged(present, { answer, look: compared }, now()))
  }

  async #compare(host: string): Promise<Pick<Sightings, 'dns' | 'file'>> {
    const held = this.#parts.roll.heldBy(host)
    return held ? this.#parts.compare(held) : { dns: null, file: null }
  }

  /** Those that came or went since the last time. */
  #enlist(): void {
    const { board, visitor } = this.#parts
    for (const { host } of board.all()) if (!this.#due.has(host) && !this.#underWay.has(host)) this.#enter(host)
    for (const host of [...this.#due.keys()]) {
      if (board.find(host)) continue
      this.#due.delete(host)
      visitor.forget(host)
    }
  }

  #enter(host: string): void {
    const status = this.#parts.board.find(host)
    if (!status) return
    const { lastCheck, since } = status
    const standing = { host, checkedAt: lastCheck?.at ?? null, failingSince: lastCheck?.ok === false ? since : null }
    this.#due.set(host, { host, dueAt: nextCheck(standing, this.#parts.everyMs) })
  }
}
