import type { EdgeMap, EdgeReader } from '../edge/reading/contract.ts'
import type { HostStatus, WatchedHost } from '../model/host-status.ts'
import type { Exposure, Store } from '../store/contract.ts'
import { eachExposure } from '../store/each-exposure.ts'
import type { Board } from './board.ts'
import { pending } from './judge.ts'
import type { Keeper } from './keeper.ts'
import { type Held, heldBy, type Surroundings, watchedHosts } from './watched.ts'

interface RollParts {
  readonly store: Store
  readonly board: Board
  readonly keeper: Keeper
  readonly reader: EdgeReader
  readonly surroundings: Surroundings
  readonly everyMs: number
}

/** All exposures are listed anew so often; those that a run touched are looked at when it begins and when it ends. */
const LIST_MS = 30_000
const HELD_PER_TURN = 50
const HEAR_MS = 1_000
const EVENTS_AT_ONCE = 1_000
const LONGEST_BETWEEN_READINGS_MS = 5_000

/** Who is watched: the hosts of the edge's configuration and the exposures of the store, kept up to date. */
export class Roll {
  readonly #parts: RollParts
  readonly #held = new Map<string, Held>()
  readonly #touchedRuns = new Set<string>()
  readonly #touchedHosts = new Set<string>()
  #map: EdgeMap | undefined
  #heard: number | undefined
  #heardAt = Number.NEGATIVE_INFINITY
  #listedAt = Number.NEGATIVE_INFINITY
  #readAt = Number.NEGATIVE_INFINITY

  constructor(parts: RollParts) {
    this.#parts = parts
  }

  /** A run has begun, gone on or ended. */
  touchRun(runId: string): void {
    this.#touchedRuns.add(runId)
  }

  /** While a run changes a host, what is seen of it means nothing. */
  isPaused(host: string): boolean {
    const state = this.#held.get(host)?.state
    return state === 'applying' || state === 'removing'
  }

  /** Whether a run of whatever instance changes the exposure at this moment, or has just taken it away. */
  async isBusy(host: string): Promise<boolean> {
    await this.#renew(host)
    return !this.#held.has(host) || this.isPaused(host)
  }

  /** Brings the board's hosts up to date, where something may have changed. */
  async refresh(now: number): Promise<void> {
    await this.#hearOthers(now)
    const readEveryMs = Math.min(LONGEST_BETWEEN_READINGS_MS, this.#parts.everyMs)
    const isTouched = this.#touchedRuns.size + this.#touchedHosts.size > 0
    if (!isTouched && now - this.#readAt < readEveryMs) return
    const isListed = await this.#list(now)
    const isHeldNew = (await this.#renewTouched()) || isListed
    const map = await this.#parts.reader.read()
    this.#readAt = now
    if (map !== this.#map || isHeldNew) this.#settle(map)
    this.#map = map
  }

  async #list(now: number): Promise<boolean> {
    if (now - this.#listedAt < LIST_MS) return false
    const hosts = new Set<string>()
    for await (const exposure of eachExposure(this.#parts.store)) {
      await this.#hold(exposure)
      hosts.add(exposure.host)
      // A store in this very program never lets anybody else have a turn by itself.
      if (hosts.size % HELD_PER_TURN === 0) await new Promise(setImmediate)
    }
    for (const host of this.#held.keys()) if (!hosts.has(host)) this.#held.delete(host)
    this.#listedAt = now
    return true
  }

  async #renewTouched(): Promise<boolean> {
    const { store } = this.#parts
    const runs = [...this.#touchedRuns]
    this.#touchedRuns.clear()
    for (const runId of runs) {
      const run = await store.findRun(runId)
      if (run) this.#touchedHosts.add(run.host)
    }
    const hosts = [...this.#touchedHosts]
    this.#touchedHosts.clear()
    for (const host of hosts) await this.#renew(host)
    return hosts.length > 0
  }

  async #renew(host: string): Promise<void> {
    const exposure = await this.#parts.store.findExposure(host)
    if (exposure) await this.#hold(exposure)
    else this.#held.delete(host)
  }

  /** Runs of other instances are known by the events they leave. */
  async #hearOthers(now: number): Promise<void> {
    if (now - this.#heardAt < HEAR_MS) return
    const { store } = this.#parts
    this.#heardAt = now
    this.#heard ??= await store.eventHead()
    for (const { seq, type, host } of await store.readEvents(this.#heard, EVENTS_AT_ONCE)) {
      this.#heard = seq
      if (type.startsWith('exposure.')) this.#touchedHosts.add(host)
    }
  }

  /** Plans never change in what is asked of them here: each is read once. */
  async #hold(exposure: Exposure): Promise<void> {
    const { host, planId, state, expiresAt = null } = exposure
    const known = this.#held.get(host)
    if (known?.planId === planId) this.#held.set(host, { ...known, state, expiresAt })
    else {
      const plan = await this.#parts.store.findPlan(planId)
      if (plan) this.#held.set(host, heldBy(exposure, plan))
    }
  }

  #settle(map: EdgeMap): void {
    const { board, keeper, surroundings } = this.#parts
    const watched = watchedHosts(map, this.#held, surroundings)
    const names = new Set(watched.map(({ host }) => host))
    for (const { host } of [...board.all()]) if (!names.has(host)) keeper.remove(host)
    for (const one of watched) {
      const status = board.find(one.host)
      if (!status || isAnother(status, one)) keeper.put(pending(one))
      else if (isMoved(status, one)) keeper.put({ ...status, ...one })
      // The same, word for word; but thousands of statuses from the store have words of their own, and these are shared.
      else if (!this.#map) board.put({ ...status, ...one })
    }
  }
}

/** What was seen under the same name before says nothing about this one. */
const isAnother = (status: HostStatus, { planId, tls }: WatchedHost): boolean =>
  status.planId !== planId || status.tls !== tls

const isMoved = (status: HostStatus, now: WatchedHost): boolean =>
  status.configPath !== now.configPath ||
  status.server !== now.server ||
  status.address !== now.address ||
  status.path !== now.path ||
  status.expiresAt !== now.expiresAt ||
  status.door.address !== now.door.address ||
  status.door.port !== now.door.port
