import { CheckCounts } from '../model/history.ts'
import type { AlertRule, HostStatus } from '../model/host-status.ts'
import type { Clock } from '../primitives/clock.ts'
import type { EventStore } from '../store/ports/events.ts'
import type { HostStore } from '../store/ports/hosts.ts'
import type { Transactions } from '../store/ports/store.ts'
import type { Board } from './board.ts'
import { eventsBetween, isAlerted, withTrouble } from './host-events.ts'

/** How old the stored status of a host may become while only times and counts change. */
const ROLL_UP_MS = 60_000
const BETWEEN_ROLL_UPS_MS = 10_000
/** The longest time of counts that a crash loses. */
const LONGEST_BETWEEN_COUNTS_MS = 120_000
/** Hosts per transaction, so that other writers do not wait long. */
const MOST_AT_ONCE = 500

interface Change {
  readonly before: HostStatus
  readonly after: HostStatus
}

/**
 * Writes statuses to the board at once, and to the store as follows: a new or removed host and a change of badge or
 * certificate with the next flush, together with its event; other changes once per minute.
 */
export class StatusWriter {
  readonly #store: HostStore & Transactions<HostStore & EventStore>
  readonly #board: Board
  readonly #ruleOf: (host: string) => AlertRule
  readonly #writtenAt = new Map<string, number>()
  readonly #toWrite = new Set<string>()
  #gone = new Set<string>()
  #changes: Change[] = []
  #version = 0
  #changed = 0
  #rolledUpAt = Number.NEGATIVE_INFINITY
  readonly #counts = new CheckCounts()
  #countedAt = Number.NEGATIVE_INFINITY
  /** Asked before each write: another instance may check the hosts by now. */
  readonly #ensureHeld: () => Promise<void>
  /** What is stored has the time of the day. The pauses are measured by the monotonic clock, which nobody sets back. */
  readonly #clock: Clock

  constructor(
    store: HostStore & Transactions<HostStore & EventStore>,
    board: Board,
    ruleOf: (host: string) => AlertRule,
    ensureHeld: () => Promise<void>,
    clock: Clock,
  ) {
    this.#clock = clock
    this.#ensureHeld = ensureHeld
    this.#store = store
    this.#board = board
    this.#ruleOf = ruleOf
  }

  /** Loads the statuses that the previous checking instance has stored. */
  async begin(): Promise<void> {
    const now = this.#clock.monotonic()
    const { version } = await this.#store.hostsSummary()
    const kept = await this.#store.readHosts(-1)
    const names = new Set(kept.map(({ host }) => host))
    for (const { host } of [...this.#board.all()]) if (!names.has(host)) this.#board.remove(host)
    for (const status of kept) {
      this.#board.put(status)
      this.#writtenAt.set(status.host, now)
    }
    this.#version = version
    this.#changed = this.#board.changed
    this.#rolledUpAt = now
    this.#countedAt = now
  }

  /** Sets the current status of a host. */
  put(status: HostStatus): void {
    const { host } = status
    const before = this.#board.find(host)
    const isNew = before?.badge !== status.badge
    if (isNew) this.#changed += 1
    const judged = withTrouble(status, before, this.#ruleOf(host))
    const after = isNew ? { ...judged, changed: this.#changed } : judged
    this.#board.put(after)
    const check = status.lastCheck
    if (check && check.at !== before?.lastCheck?.at) this.#counts.add(host, check)
    this.#gone.delete(host)
    if (!before || isWorthWriting(before, after)) this.#toWrite.add(host)
    const shown = this.#board.find(host)
    if (before && shown && hasEvents(before, shown)) this.#changes.push({ before, after: shown })
  }

  remove(host: string): void {
    this.#gone.add(host)
    this.#toWrite.delete(host)
    this.#changes = this.#changes.filter(({ after }) => after.host !== host)
    this.#writtenAt.delete(host)
    this.#board.remove(host)
  }

  /** Writes the statuses that are due, or all of them. Statuses that cannot be written stay queued for the next call. */
  async flush(all = false): Promise<void> {
    this.#markOld(all)
    do await this.#writeSome()
    while (all && this.#toWrite.size > 0)
    await this.#writeCounts(all)
  }

  /** Counts that cannot be written are lost: what they would tell is not worth a queue. */
  async #writeCounts(all: boolean): Promise<void> {
    const now = this.#clock.monotonic()
    // Each host costs two rows, so many hosts are written less often.
    const pauseMs = Math.min(LONGEST_BETWEEN_COUNTS_MS, 10_000 + 12 * this.#board.size)
    if (!all && now - this.#countedAt < pauseMs) return
    await this.#ensureHeld()
    this.#countedAt = now
    await this.#store.addHistory(this.#counts.take())
  }

  async #writeSome(): Promise<void> {
    const hosts = new Set([...this.#toWrite].slice(0, MOST_AT_ONCE))
    const gone = [...this.#gone]
    if (hosts.size === 0 && gone.length === 0) return
    await this.#ensureHeld()
    const changes = this.#changes.filter(({ after }) => hosts.has(after.host))
    const statuses = [...hosts].flatMap((host) => this.#board.find(host) ?? [])
    const version = this.#version + 1
    const now = this.#clock.now()
    const writtenAt = this.#clock.monotonic()
    this.#gone = new Set()
    this.#changes = this.#changes.filter(({ after }) => !hosts.has(after.host))
    for (const host of hosts) this.#toWrite.delete(host)
    try {
      await this.#store.transaction((session) => write(session, statuses, gone, changes, { version, now }))
    } catch (error) {
      for (const host of hosts) if (this.#board.find(host)) this.#toWrite.add(host)
      for (const host of gone) if (!this.#board.find(host)) this.#gone.add(host)
      this.#changes = [...changes, ...this.#changes]
      throw error
    }
    this.#version = version
    for (const { host } of statuses) this.#writtenAt.set(host, writtenAt)
  }

  #markOld(all: boolean): void {
    const now = this.#clock.monotonic()
    if (!all && now - this.#rolledUpAt < BETWEEN_ROLL_UPS_MS) return
    this.#rolledUpAt = now
    for (const { host } of this.#board.all()) {
      if (all || now - (this.#writtenAt.get(host) ?? Number.NEGATIVE_INFINITY) >= ROLL_UP_MS) this.#toWrite.add(host)
    }
  }
}

const hasEvents = (before: HostStatus, after: HostStatus): boolean =>
  before.badge !== after.badge ||
  before.fullCheck.certificate?.level !== after.fullCheck.certificate?.level ||
  isAlerted(before) !== isAlerted(after)

/** True for changes that callers of other instances should see at once. */
const isWorthWriting = (before: HostStatus, after: HostStatus): boolean =>
  hasEvents(before, after) ||
  before.configPath !== after.configPath ||
  before.server !== after.server ||
  before.expiresAt !== after.expiresAt

async function write(
  session: HostStore & EventStore,
  statuses: readonly HostStatus[],
  gone: readonly string[],
  changes: readonly Change[],
  { version, now }: { readonly version: number; readonly now: number },
): Promise<void> {
  await session.deleteHosts(gone)
  await session.putHosts(statuses, version)
  for (const { before, after } of changes) {
    for (const event of eventsBetween(before, after, now)) await session.appendEvent(event)
  }
}
