import type { EdgeVisitor } from '../../edge/contract/visit.ts'
import type { FullCheck, HostStatus } from '../../model/host-status.ts'
import type { Clock } from '../../primitives/clock.ts'
import { Slices } from '../../primitives/slices.ts'
import type { Log } from '../../runtime/log.ts'
import type { Board } from '../board.ts'
import { isSilent, needsFullCheck, statusAfterCheck } from '../judge.ts'
import type { StatusWriter } from '../status-writer.ts'
import type { WatchList } from '../watch-list.ts'
import { DueHosts } from './due-hosts.ts'
import { type CheckEnd, FullRound } from './full-round.ts'
import { isFullCheckDue, nextCheck } from './schedule.ts'

export interface RoundsParts {
  readonly board: Board
  readonly writer: StatusWriter
  readonly watchList: WatchList
  readonly visitor: EdgeVisitor
  /** Compares the exposure of a host with DNS and the edge's files. */
  readonly compare: (host: string) => Promise<Pick<FullCheck, 'dns' | 'file' | 'secondary'>>
  /** Called after every check. */
  readonly onCheck: (status: HostStatus) => void
  readonly everyMs: number
  readonly atOnce: number
  readonly log: Log
  readonly clock: Clock
}

/** A host whose turn comes while a run changes it is looked at again after this time. */
const AFTER_BUSY_MS = 1_000
/** Due before all others. */
const AT_ONCE = Number.NEGATIVE_INFINITY

/** Checks the hosts that are due, at most `atOnce` at the same time. */
export class Rounds {
  readonly #parts: RoundsParts
  readonly #running = new Set<string>()
  /** By the monotonic clock: one that is set back would delay every check by as much. */
  readonly #due = new DueHosts()
  #knownMembership = -1
  #fullRound: FullRound | undefined
  #stopped = false

  constructor(parts: RoundsParts) {
    this.#parts = parts
  }

  /** The number of checks that are due and not started. */
  get waiting(): number {
    return this.#due.countDue(this.#parts.clock.monotonic())
  }

  /** Gives every host a full check as soon as there is room for it, whenever it is due. The next call of `begin` begins. */
  checkAll(): FullRound {
    const round = new FullRound(this.#parts.board.all())
    this.#fullRound = round
    this.#knownMembership = -1
    return round
  }

  /** Opening many connections takes long, so they are opened in slices. Call it again only when it has resolved. */
  async begin(): Promise<void> {
    const { board, atOnce, watchList, log, clock } = this.#parts
    if (this.#knownMembership !== board.membership) this.#updateHosts()
    const slices = new Slices(clock)
    while (this.#running.size < atOnce) {
      if (slices.isOver) await slices.next()
      const host = this.#due.take(clock.monotonic())
      if (host === undefined) return
      const status = board.find(host)
      if (!status) {
        this.#fullRound?.end(host, 'unasked')
        continue
      }
      if (watchList.isPaused(host)) {
        this.#fullRound?.end(host, 'busy')
        this.#due.set(host, clock.monotonic() + AFTER_BUSY_MS)
        continue
      }
      this.#running.add(host)
      const round = this.#fullRound?.begin(host) ? this.#fullRound : undefined
      void this.#check(status, round !== undefined)
        .catch((error: unknown): CheckEnd => {
          log.error({ event: 'check_failed', err: error, host }, `Check of ${host} failed; retrying at its next turn.`)
          return 'failed'
        })
        .then((end) => {
          this.#running.delete(host)
          this.#schedule(host)
          round?.end(host, end)
        })
    }
  }

  /** The results of running checks are dropped. */
  stop(): void {
    this.#stopped = true
  }

  async #check(status: HostStatus, isAsked: boolean): Promise<CheckEnd> {
    const { board, writer, watchList, visitor, onCheck, everyMs, log, clock } = this.#parts
    const { host, path, tls, listenAddress, listenGap } = status
    if (listenGap) return 'unasked'
    const full = isAsked || isFullCheckDue(host, status.fullCheck.at, needsFullCheck(status), clock.now(), everyMs)
    const [answer, compared] = await Promise.all([
      visitor.visit({ host, path, tls, listenAddress, full, proof: watchList.proofOf(host) }),
      full ? this.#compare(status) : undefined,
    ])
    const present = board.find(host)
    // A run may have started or ended during the check. Then the result is out of date.
    if (this.#stopped || present?.planId !== status.planId || watchList.isPaused(host)) return 'busy'
    // A repair was verified after this check had begun.
    if (present.lastCheck?.at !== status.lastCheck?.at) return 'checked'
    const after = statusAfterCheck(present, { answer, fullCheck: compared }, clock.now())
    const isWorse = after.badge !== present.badge && after.badge !== 'RUNNING'
    // Another instance may be removing the host. Check this before an alarm is sent.
    if (isWorse && present.managed && (await watchList.isBusy(host))) return 'busy'
    if (board.find(host) !== present) return 'checked'
    if (after.badge !== present.badge)
      log.info(
        { event: 'badge_changed', host, badge: after.badge, before: present.badge },
        `Badge of ${host} changed from ${present.badge} to ${after.badge}.`,
      )
    writer.put(after)
    onCheck(after)
    return 'checked'
  }

  async #compare({ host, managed }: HostStatus): Promise<Pick<FullCheck, 'dns' | 'file' | 'secondary'>> {
    return managed ? this.#parts.compare(host) : { dns: null, file: null }
  }

  /** Adds new hosts to the schedule and removes hosts that are gone. */
  #updateHosts(): void {
    const { board, visitor } = this.#parts
    this.#knownMembership = board.membership
    for (const { host, fullCheck, listenGap } of board.all()) {
      const hasTurn = fullCheck.at !== null || listenGap !== undefined
      const isPlaced = this.#due.has(host) && hasTurn && !this.#fullRound?.isWaiting(host)
      if (!this.#running.has(host) && !isPlaced) this.#schedule(host)
    }
    for (const host of [...this.#due.hosts]) {
      if (board.find(host)) continue
      this.#due.delete(host)
      this.#fullRound?.end(host, 'unasked')
      visitor.forget(host)
    }
  }

  #schedule(host: string): void {
    const status = this.#parts.board.find(host)
    if (!status) this.#fullRound?.end(host, 'unasked')
    else this.#due.set(host, this.#fullRound?.isWaiting(host) ? AT_ONCE : this.#nextCheckOf(status))
  }

  #nextCheckOf(status: HostStatus): number {
    const { everyMs, clock } = this.#parts
    const { host, lastCheck, since, fullCheck, listenGap } = status
    const now = clock.now()
    const lastAt = fullCheck.at === null ? null : (lastCheck?.at ?? null)
    // A host that nothing has proven yet gets its first full check at once.
    if (lastAt === null && !listenGap) return AT_ONCE
    // The clock that a check was stored by may have been ahead of this one.
    const checkedAt = Math.min(lastAt ?? now, now)
    const checked = { host, checkedAt, failingSince: isSilent(status) ? since : null }
    return clock.monotonic() + nextCheck(checked, everyMs) - now
  }
}
