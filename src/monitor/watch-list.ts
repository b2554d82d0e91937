import type { EdgeReader, ServedMap } from '../edge/served.ts'
import type { HostStatus, WatchedHost } from '../model/host-status.ts'
import type { Clock } from '../primitives/clock.ts'
import { Slices } from '../primitives/slices.ts'
import type { EventStore } from '../store/ports/events.ts'
import { type Exposure, type ExposureStore, eachExposure } from '../store/ports/exposures.ts'
import type { PlanStore } from '../store/ports/plans.ts'
import type { RunStore } from '../store/ports/runs.ts'
import type { Board } from './board.ts'
import { pending } from './judge.ts'
import { ExposureChanges, ReadOrder } from './read-order.ts'
import type { StatusWriter } from './status-writer.ts'
import { type FirstAnswer, isOtherExposure, repairTime, syncHost } from './sync-host.ts'
import {
  type EdgeEnvironment,
  type WatchedExposure,
  watchedAfterRun,
  watchedExposure,
  watchedHosts,
} from './watched.ts'

interface WatchListParts {
  readonly store: ExposureStore & PlanStore & EventStore & Pick<RunStore, 'findRun' | 'runsOf'>
  readonly board: Board
  readonly writer: StatusWriter
  readonly reader: EdgeReader<ServedMap>
  readonly environment: EdgeEnvironment
  readonly firstAnswer: FirstAnswer
  readonly everyMs: number
  readonly clock: Clock
}

/** The interval for listing all exposures. An exposure that a run changes is read when the run starts and ends. */
const LIST_MS = 30_000
/** Exposures between two pauses that let other work run. */
const EXPOSURES_PER_TURN = 50
const READ_EVENTS_MS = 500
const LONGEST_BETWEEN_READINGS_MS = 5_000
/** The edge is not read again for this many times the time that reading and comparing took: at most a twentieth of the time goes into it. */
const PAUSE_PER_READING = 20
/** An entry without an exposure is listed after this time. Before, a run may still be creating or removing it. */
const LEFT_BEHIND_MS = 5_000

/** The hosts to check: those of the edge's configuration and the exposures of the store. */
export class WatchList {
  readonly #parts: WatchListParts
  readonly #exposures = new Map<string, WatchedExposure>()
  readonly #touchedRuns = new Set<string>()
  readonly #touchedHosts = new Set<string>()
  readonly #exposureChanges: ExposureChanges
  readonly #order = new ReadOrder()
  /** By host: the number of the first read of the edge that shows the result of the host's last run. */
  readonly #syncedAt = new Map<string, number>()
  /** Hosts with an entry but no exposure, and the time when each was found. */
  readonly #orphans = new Map<string, number>()
  #map: ServedMap | undefined
  // Times of this class are of the monotonic clock: one that is set back would stop every reading for as long.
  #eventsReadAt = Number.NEGATIVE_INFINITY
  #listedAt = Number.NEGATIVE_INFINITY
  #readAt = Number.NEGATIVE_INFINITY
  #readingMs = 0
  /** Since the edge was compared with them last. */
  #areExposuresNew = false

  constructor(parts: WatchListParts) {
    this.#parts = parts
    this.#exposureChanges = new ExposureChanges(parts.store)
  }

  /** Call it when a run starts, advances or ends. */
  touchRun(runId: string): void {
    this.#touchedRuns.add(runId)
  }

  /** True while a run changes the host. Check results are meaningless during that time. */
  isPaused(host: string): boolean {
    const state = this.#exposures.get(host)?.state
    return state === 'applying' || state === 'removing'
  }

  /** The secret that identifies the host's own entry. Undefined for unmanaged hosts. */
  proofOf(host: string): string | undefined {
    return this.#exposures.get(host)?.proof
  }

  /** Whether a run of any instance is changing the exposure now, or has just removed it. */
  async isBusy(host: string): Promise<boolean> {
    await this.#reload(host)
    return !this.#exposures.has(host) || this.isPaused(host)
  }

  /** Updates a host on the board from its exposure. Call it when a change is committed. */
  async sync(host: string): Promise<void> {
    const { store, board, writer, environment, firstAnswer } = this.#parts
    this.#syncedAt.set(host, this.#order.begin())
    // The next refresh reads the edge's files for this host.
    this.#touchedHosts.add(host)
    const former = this.#exposures.get(host)?.planId
    const exposure = await this.#reload(host)
    const repairedAt = exposure && (await repairTime(store, exposure))
    const statuses = {
      find: (name: string) => board.find(name),
      put: (status: HostStatus) => writer.put(status),
      remove: (name: string) => writer.remove(name),
    }
    const watched = await watchedAfterRun(this.#exposures.get(host), environment)
    syncHost(statuses, host, { watched, exposure, repairedAt, firstAnswer })
    if (!exposure && former !== undefined) await this.#showReleased(host, former)
  }

  /** A host that was accepted stays on the air, in a file that is not ours. */
  async #showReleased(host: string, planId: string): Promise<void> {
    const { store, writer, reader, environment } = this.#parts
    if ((await store.findPlan(planId))?.state !== 'released') return
    const released = watchedHosts(await reader.read(), this.#exposures, environment).find((one) => one.host === host)
    if (released) writer.put(pending(released))
  }

  /** Lets the next refresh read everything, whenever it was read last. */
  readAgain(): void {
    this.#eventsReadAt = this.#listedAt = this.#readAt = Number.NEGATIVE_INFINITY
  }

  /** Updates the hosts on the board if something may have changed. */
  async refresh(): Promise<void> {
    const now = this.#parts.clock.monotonic()
    await this.#syncChangedExposures(now)
    const readEveryMs = Math.min(LONGEST_BETWEEN_READINGS_MS, this.#parts.everyMs)
    const isTouched = this.#touchedRuns.size + this.#touchedHosts.size > 0
    if (!isTouched && now - this.#readAt < readEveryMs) return
    const isListed = await this.#list(now)
    if (await this.#reloadTouched()) this.#areExposuresNew = true
    if (!isListed && now - this.#readAt < PAUSE_PER_READING * this.#readingMs) return
    const began = this.#parts.clock.monotonic()
    const asked = this.#order.begin()
    const map = await this.#parts.reader.read()
    this.#readAt = now
    await this.#findOrphans(map, now)
    const isNew = map !== this.#map || isListed || this.#areExposuresNew || this.#orphans.size > 0
    this.#areExposuresNew = false
    if (isNew) await this.#syncAll(map, asked, now)
    this.#map = map
    this.#readingMs = this.#parts.clock.monotonic() - began
  }

  async #list(now: number): Promise<boolean> {
    if (now - this.#listedAt < LIST_MS) return false
    const asked = this.#order.begin()
    const hosts = new Set<string>()
    for await (const exposure of eachExposure(this.#parts.store)) {
      await this.#setExposure(exposure.host, exposure, asked)
      hosts.add(exposure.host)
      // An SQLite store answers synchronously, so without this pause no other work would run.
      if (hosts.size % EXPOSURES_PER_TURN === 0) await this.#parts.clock.turn()
    }
    for (const host of this.#exposures.keys()) {
      if (hosts.has(host) || this.#order.isOutdated(host, asked)) continue
      this.#exposures.delete(host)
      this.#order.forget(host)
    }
    this.#listedAt = now
    return true
  }

  async #reloadTouched(): Promise<boolean> {
    const { store } = this.#parts
    const runs = [...this.#touchedRuns]
    this.#touchedRuns.clear()
    for (const runId of runs) {
      const run = await store.findRun(runId)
      if (run) this.#touchedHosts.add(run.host)
    }
    const hosts = [...this.#touchedHosts]
    this.#touchedHosts.clear()
    for (const host of hosts) await this.#reload(host)
    return hosts.length > 0
  }

  async #reload(host: string): Promise<Exposure | undefined> {
    const asked = this.#order.begin()
    const exposure = await this.#parts.store.findExposure(host)
    await this.#setExposure(host, exposure, asked)
    return exposure
  }

  /** Runs of other instances and of commands on the server are found by their events. */
  async #syncChangedExposures(now: number): Promise<void> {
    if (now - this.#eventsReadAt < READ_EVENTS_MS) return
    this.#eventsReadAt = now
    const hosts = await this.#exposureChanges.hosts()
    for (const host of hosts) this.#touchedHosts.add(host)
    for (const host of hosts) await this.sync(host)
  }

  /** An entry without an exposure may belong to a run of another instance that is still writing or removing it. */
  async #findOrphans(map: ServedMap, now: number): Promise<void> {
    const { isOurs } = this.#parts.environment
    const unknown = map.hosts.filter(({ host, configPath }) => !this.#exposures.has(host) && isOurs(configPath))
    const since = new Map(this.#orphans)
    this.#orphans.clear()
    for (const { host } of unknown) {
      await this.#reload(host)
      if (!this.#exposures.has(host)) this.#orphans.set(host, since.get(host) ?? now)
    }
  }

  /** The members of a plan that are used here never change, so each plan is read once. */
  async #setExposure(host: string, exposure: Exposure | undefined, asked: number): Promise<void> {
    const known = this.#exposures.get(host)
    const plan =
      exposure && known?.planId !== exposure.planId ? await this.#parts.store.findPlan(exposure.planId) : undefined
    if (!this.#order.arrive(host, asked)) return
    if (exposure && plan) this.#exposures.set(host, watchedExposure(exposure, plan))
    else if (exposure && known?.planId === exposure.planId) {
      this.#exposures.set(host, { ...known, state: exposure.state, expiresAt: exposure.expiresAt ?? null })
    } else this.#exposures.delete(host)
  }

  /** In slices. A host whose run ends meanwhile has been synced by then, and is left out. */
  async #syncAll(map: ServedMap, asked: number, now: number): Promise<void> {
    const { board, writer, environment, clock } = this.#parts
    const slices = new Slices(clock)
    board.setPatterns(map.patterns ?? [])
    for (const [host, at] of this.#syncedAt) if (at < asked) this.#syncedAt.delete(host)
    // A configuration that was read before the end of a run is out of date for its host.
    const isCurrent = ({ host }: { readonly host: string }) => !this.#syncedAt.has(host)
    const isNewOrphan = (host: string) => now - (this.#orphans.get(host) ?? Number.NEGATIVE_INFINITY) < LEFT_BEHIND_MS
    const watched: WatchedHost[] = []
    for (const one of watchedHosts(map, this.#exposures, environment)) {
      if (!isNewOrphan(one.host)) watched.push(one)
      if (slices.isOver) await slices.next()
    }
    const names = new Set(watched.map(({ host }) => host))
    for (const status of [...board.all()]) {
      if (!names.has(status.host) && isCurrent(status)) writer.remove(status.host)
      if (slices.isOver) await slices.next()
    }
    for (const one of watched) {
      if (slices.isOver) await slices.next()
      if (!isCurrent(one)) continue
      const status = board.find(one.host)
      if (!status || isOtherExposure(status, one) || status.listenGap !== one.listenGap) writer.put(pending(one))
      else if (isChanged(status, one)) writer.put({ ...status, ...one })
      // Saves memory: statuses from the store have their own copies of the strings, and `one` shares its strings.
      else if (!this.#map) board.put({ ...status, ...one })
    }
  }
}

const isChanged = (status: HostStatus, now: WatchedHost): boolean =>
  status.configPath !== now.configPath ||
  status.server !== now.server ||
  status.address !== now.address ||
  status.port !== now.port ||
  status.path !== now.path ||
  String(status.goodStatuses) !== String(now.goodStatuses) ||
  status.expiresAt !== now.expiresAt ||
  status.listenAddress.address !== now.listenAddress.address ||
  status.listenAddress.port !== now.listenAddress.port
