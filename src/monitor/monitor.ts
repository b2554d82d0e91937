import type { EdgeReader, ServedMap } from '../edge/served.ts'
import type { Validity } from '../model/badge.ts'
import { Fault } from '../model/errors.ts'
import type { AlertRule, HostsChecked, Mute } from '../model/host-status.ts'
import { WakeUp, wokenWithin } from '../primitives/followers.ts'
import { HeldLeases } from '../runs/engine/lease.ts'
import type { Store } from '../store/ports/store.ts'
import { Follower } from './follower.ts'
import { withCertificate } from './judge.ts'
import { Mutes } from './mutes.ts'
import { ReadBarrier } from './read-order.ts'
import type { FullRound } from './rounds/full-round.ts'
import { Rounds, type RoundsParts } from './rounds/rounds.ts'
import { StatusWriter } from './status-writer.ts'
import type { FirstAnswer } from './sync-host.ts'
import { WatchList } from './watch-list.ts'
import type { EdgeEnvironment } from './watched.ts'

interface MonitorParts extends Omit<RoundsParts, 'writer' | 'watchList'> {
  readonly store: Store
  /** Undefined if the Primary's edge is not on this machine. Then another instance checks, and this one copies its results. */
  readonly edge: { readonly reader: EdgeReader<ServedMap>; readonly environment: EdgeEnvironment } | undefined
  readonly firstAnswer: FirstAnswer
  readonly alertRule: (host: string) => AlertRule
  /** The hosts that the configuration mutes. */
  readonly configuredMutes: () => ReadonlyMap<string, Mute>
  /** Whether this instance reaches the Primary's edge. If not, another one checks. */
  readonly mayCheck: () => Promise<boolean>
  readonly instance: string
  /** How long the monitor lease lasts without renewal. */
  readonly leaseMs: number
}

const LEASE = 'monitor'
const TICK_MS = 100
/** How often the rows of the checking instance are read. The longer time counts while its commits are told. */
const FOLLOW_MS = 500
const TOLD_FOLLOW_MS = 1_000

/** Checks every host through the Primary's edge at regular intervals. One instance checks; the others copy its results. */
export class Monitor {
  readonly #parts: MonitorParts
  readonly #barrier: ReadBarrier
  readonly #mutes: Mutes
  #rounds: Rounds | undefined
  #writer: StatusWriter | undefined
  /** Updates hosts on the board: the watch list when this instance checks, else the follower. Undefined before the start. */
  #hosts: WatchList | Follower | undefined
  readonly #told = new WakeUp()
  /** When the board was last known to be what the store says, by the monotonic clock. */
  #confirmedAt: number | undefined
  #asked: PromiseWithResolvers<HostsChecked | undefined> | undefined
  #stopped = false
  #ended: Promise<void> = Promise.resolve()

  constructor(parts: MonitorParts) {
    this.#parts = parts
    this.#barrier = new ReadBarrier(parts.clock)
    const { board, configuredMutes: configured } = parts
    const judgeAgain = (hosts: readonly string[]) => {
      for (const host of hosts) {
        const status = board.find(host)
        if (status) this.#writer?.put(status)
      }
    }
    this.#mutes = new Mutes({ ...parts, configured, onChange: judgeAgain })
  }

  /** The number of checks that are due and not started. */
  get waiting(): number {
    return this.#rounds?.waiting ?? 0
  }

  /** For how long nothing confirms the board, because the store does not answer. Undefined before the start. */
  get unconfirmedMs(): number | undefined {
    return this.#confirmedAt === undefined ? undefined : this.#parts.clock.monotonic() - this.#confirmedAt
  }

  start(): void {
    this.#ended = this.#run()
  }

  /** Commits a change of a host's exposure. The board shows the change before the promise resolves. */
  publish<T>(host: string, commit: () => Promise<T>): Promise<T> {
    const { log } = this.#parts
    return this.#barrier.during(host, async () => {
      const committed = await commit()
      await this.#hosts
        ?.sync(host)
        .catch((error: unknown) =>
          log.error(
            { event: 'host_status_not_updated', err: error, host },
            `Status of ${host} was not updated after a run; the next monitor round will retry.`,
          ),
        )
      return committed
    })
  }

  /** Commits a mute of a host or its end. The board shows it before the promise resolves. */
  publishMute(host: string, commit: () => Promise<void>): Promise<void> {
    return this.#barrier.during(host, async () => {
      await commit()
      await this.#refreshMutes(() => this.#mutes.load())
    })
  }

  /** Shows a certificate on the board that a handshake has just proven, without waiting for the next full check. */
  reportCertificate(host: string, validity: Validity): void {
    const { board, clock } = this.#parts
    const status = board.find(host)
    if (status?.tls) (this.#writer ?? board).put(withCertificate(status, validity, clock.now()))
  }

  /** A run of this instance has made a step: its hosts are checked soon. */
  touchRun(runId: string): void {
    if (this.#hosts instanceof WatchList) this.#hosts.touchRun(runId)
  }

  /**
   * Reads everything again and checks every host fully. Resolves when the results are on the board and in the store. Undefined:
   * another instance checks the hosts. Callers at the same time share one result.
   */
  checkAll(): Promise<HostsChecked | undefined> {
    this.#asked ??= Promise.withResolvers()
    this.#told.call()
    return this.#asked.promise
  }

  /** Resolves when the board shows all earlier commits of `host`, or of all hosts. Await it before reading the board. */
  upToDate(host?: string): Promise<void> {
    return this.#barrier.passed(host)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#told.call()
    await this.#ended
    this.#takeAsked()?.reject(new Fault('The service is shutting down.'))
    this.#parts.visitor.close()
  }

  async #run(): Promise<void> {
    const { log, store, clock } = this.#parts
    const stopWatching = store.watch(() => this.#told.call())
    let follower = this.#follow()
    while (!this.#stopped) {
      try {
        if (await this.#lead()) follower = this.#follow()
        await follower.update()
        await this.#mutes.refresh()
        this.#takeAsked()?.resolve(undefined)
        this.#confirmedAt = clock.monotonic()
      } catch (error) {
        log.error({ event: 'monitor_round_failed', err: error }, 'Monitor round failed; retrying.')
        this.#takeAsked()?.reject(error)
        if (this.#hosts !== follower) follower = this.#follow()
      }
      if (!this.#stopped) await wokenWithin(this.#told, store.isWatching() ? TOLD_FOLLOW_MS : FOLLOW_MS, clock)
    }
    stopWatching()
  }

  #takeAsked() {
    const asked = this.#asked
    this.#asked = undefined
    return asked
  }

  #follow(): Follower {
    const follower = new Follower({ ...this.#parts, environment: this.#parts.edge?.environment })
    this.#hosts = follower
    return follower
  }

  /** Checks the hosts while this instance holds the monitor lease. Returns false when another instance holds it. */
  async #lead(): Promise<boolean> {
    const { store, board, edge, instance, leaseMs, mayCheck, alertRule, clock } = this.#parts
    const lease = edge && (await mayCheck()) && (await store.takeLease(LEASE, instance, clock.now(), leaseMs))
    if (!lease) return false
    const held = new HeldLeases(store, [lease], leaseMs, clock)
    const writer = new StatusWriter(store, board, alertRule, () => held.ensureHeld(), clock)
    this.#writer = writer
    const watchList = new WatchList({ ...this.#parts, ...edge, writer })
    const rounds = new Rounds({ ...this.#parts, writer, watchList })
    try {
      this.#hosts = watchList
      await this.#barrier.during(undefined, async () => {
        await writer.begin()
        await this.#refreshMutes(() => this.#mutes.load())
        await this.#refresh(watchList)
      })
      this.#rounds = rounds
      await this.#checkHosts(held, watchList, rounds, writer)
      rounds.stop()
      await this.#write(writer, true)
    } finally {
      this.#rounds = undefined
      this.#writer = undefined
      rounds.stop()
      held.stop()
      await store.releaseLease(lease).catch(() => undefined)
    }
    return true
  }

  async #checkHosts(held: HeldLeases, watchList: WatchList, rounds: Rounds, writer: StatusWriter): Promise<void> {
    let round: FullRound | undefined
    while (!this.#stopped) {
      await held.ensureHeld()
      if (!(await this.#parts.mayCheck())) return
      this.#confirm(held)
      await this.#refreshMutes(() => this.#mutes.refresh())
      const isNewlyAsked = this.#asked !== undefined && !round
      if (isNewlyAsked) watchList.readAgain()
      const isRead = await this.#refresh(watchList)
      if (isNewlyAsked && isRead) round = rounds.checkAll()
      await rounds.begin()
      const over = round?.isOver ? round : undefined
      await this.#write(writer)
      if (over) {
        this.#takeAsked()?.resolve(over.result((host) => this.#parts.board.find(host)))
        round = undefined
      }
      await this.#parts.clock.sleep(TICK_MS)
    }
  }

  /** A lease is renewed every quarter of its life. One that was not renewed twice in a row tells that the store does not answer. */
  #confirm(held: HeldLeases): void {
    const { leaseMs, clock } = this.#parts
    const { leftMs } = held
    this.#confirmedAt = clock.monotonic() - (leftMs > leaseMs / 2 ? 0 : leaseMs - leftMs)
  }

  async #refresh(watchList: WatchList): Promise<boolean> {
    try {
      await watchList.refresh()
      return true
    } catch (error) {
      this.#parts.log.error({ event: 'host_list_failed', err: error }, 'The list of hosts could not be read; retrying.')
      return false
    }
  }

  async #refreshMutes(refresh: () => Promise<void>): Promise<void> {
    await refresh().catch((error: unknown) =>
      this.#parts.log.error({ event: 'mutes_not_read', err: error }, 'The mutes of hosts could not be read; retrying.'),
    )
  }

  /** A store that does not answer must not stop the checks. Unwritten statuses stay queued. */
  async #write(writer: StatusWriter, all = false): Promise<void> {
    await writer
      .flush(all)
      .catch((error: unknown) =>
        this.#parts.log.error(
          { event: 'host_status_not_written', err: error },
          'Host statuses could not be written; retrying.',
        ),
      )
  }
}
