import type { EdgeVisitor } from '../edge/contract.ts'
import type { HostStatus, Sightings } from '../model/host-status.ts'
import type { Log } from '../runtime/log.ts'
import type { Board } from './board.ts'
import { isWrongByLook, judged } from './judge.ts'
import { dueFirst, isLookDue, nextCheck } from './schedule.ts'
import type { Keeper } from './status-writer.ts'
import type { Roll } from './watch-list.ts'

export interface RoundsParts {
  readonly board: Board
  readonly keeper: Keeper
  readonly roll: Roll
  readonly visitor: EdgeVisitor
  /** Compares the exposure of a host with DNS and the edge's files. */
  readonly compare: (host: string) => Promise<Pick<Sightings, 'dns' | 'file'>>
  /** Told of every check. */
  readonly onCheck: (status: HostStatus) => void
  readonly everyMs: number
  readonly atOnce: number
  readonly log: Log
  readonly now: () => number
}

/** Checks the hosts that are due, so many at a time. */
export class Rounds {
  readonly #parts: RoundsParts
  readonly #underWay = new Set<string>()
  readonly #due = new Map<string, number>()
  #enlisted = -1
  #stopped = false

  constructor(parts: RoundsParts) {
    this.#parts = parts
  }

  /** Checks that are due and have not begun. */
  get waiting(): number {
    return dueFirst(this.#due, this.#parts.now(), Number.POSITIVE_INFINITY).length
  }

  begin(): void {
    const { board, atOnce, roll, log, now } = this.#parts
    if (this.#enlisted !== board.membership) this.#enlist()
    for (const host of dueFirst(this.#due, now(), atOnce - this.#underWay.size)) {
      const status = board.find(host)
      this.#due.delete(host)
      if (!status || roll.isPaused(host)) continue
      this.#underWay.add(host)
      void this.#check(status)
        .catch((error: unknown) => log.error({ err: error, host }, 'A check failed'))
        .finally(() => {
          this.#underWay.delete(host)
          this.#enter(host)
        })
    }
  }

  /** What is still under way comes to nothing. */
  stop(): void {
    this.#stopped = true
  }

  async #check(status: HostStatus): Promise<void> {
    const { board, keeper, roll, visitor, onCheck, everyMs, log, now } = this.#parts
    const { host, path, tls, door } = status
    const look = isLookDue(host, status.sightings.at, isWrongByLook(status), now(), everyMs)
    const [answer, compared] = await Promise.all([
      visitor.visit({ host, path, tls, listenAddress: door, full: look, proof: roll.proofOf(host) }),
      look ? this.#look(status) : undefined,
    ])
    const present = board.find(host)
    // A run may have begun or ended meanwhile: then what was seen is of another time.
    if (this.#stopped || present?.planId !== status.planId || roll.isPaused(host)) return
    const after = judged(present, { answer, look: compared }, now())
    const isWorse = after.badge !== present.badge && after.badge !== 'RUNNING'
    // Before anybody is alarmed: another instance may be about to take the host away.
    if (isWorse && present.managed && (await roll.isBusy(host))) return
    if (board.find(host) !== present) return
    if (after.badge !== present.badge) log.info({ host, badge: after.badge, before: present.badge }, 'A badge changed')
    keeper.put(after)
    onCheck(after)
  }

  async #look({ host, managed }: HostStatus): Promise<Pick<Sightings, 'dns' | 'file'>> {
    return managed ? this.#parts.compare(host) : { dns: null, file: null }
  }

  /** Those that came or went since the last time. */
  #enlist(): void {
    const { board, visitor } = this.#parts
    this.#enlisted = board.membership
    for (const { host, sightings } of board.all()) {
      if (this.#underWay.has(host) || (this.#due.has(host) && sightings.at !== null)) continue
      this.#enter(host)
    }
    for (const host of [...this.#due.keys()]) {
      if (board.find(host)) continue
      this.#due.delete(host)
      visitor.forget(host)
    }
  }

  #enter(host: string): void {
    const status = this.#parts.board.find(host)
    if (!status) return
    const { lastCheck, since, sightings } = status
    // After an apply only its verification is known: the first look of our own is due at once.
    const checkedAt = sightings.at === null ? null : (lastCheck?.at ?? null)
    const standing = { host, checkedAt, failingSince: lastCheck?.ok === false ? since : null }
    this.#due.set(host, nextCheck(standing, this.#parts.everyMs))
  }
}
