import type { EdgeMap, EdgeReader } from '../edge/reading/contract.ts'
import type { HostStatus, WatchedHost } from '../model/host-status.ts'
import type { EventStore } from '../store/ports/events.ts'
import { type Exposure, type ExposureStore, eachExposure } from '../store/ports/exposures.ts'
import type { PlanStore } from '../store/ports/plans.ts'
import type { RunStore } from '../store/ports/runs.ts'
import type { Board } from './board.ts'
import { pending } from './judge.ts'
import { ExposureNews, ReadOrder } from './read-order.ts'
import { type FirstAnswer, isAnother, settleHost } from './settle-host.ts'
import type { Keeper } from './status-writer.ts'
import { type Held, heldBy, type Surroundings, watchedAfterRun, watchedHosts } from './watched.ts'

interface RollParts {
  readonly store: ExposureStore & PlanStore & EventStore & Pick<RunStore, 'findRun'>
  readonly board: Board
  readonly keeper: Keeper
  readonly reader: EdgeReader
  readonly surroundings: Surroundings
  readonly firstAnswer: FirstAnswer
  readonly everyMs: number
}

/** All exposures are listed anew so often; those that a run touched are looked at when it begins and when it ends. */
const LIST_MS = 30_000
const HELD_PER_TURN = 50
const HEAR_MS = 500
const LONGEST_BETWEEN_READINGS_MS = 5_000
/** A file of ours without an exposure that stays for so long was left there by nobody's run. */
const LEFT_BEHIND_MS = 5_000

/** Who is watched: the hosts of the edge's configuration and the exposures of the store, kept up to date. */
export class Roll {
  readonly #parts: RollParts
  readonly #held = new Map<string, Held>()
  readonly #touchedRuns = new Set<string>()
  readonly #touchedHosts = new Set<string>()
  readonly #news: ExposureNews
  readonly #order = new ReadOrder()
  /** Which reading of the edge is the first that shows what the last run of a host left. */
  readonly #settledAt = new Map<string, number>()
  /** Files of ours that no exposure is known for, and since when. */
  readonly #strangers = new Map<string, number>()
  #map: EdgeMap | undefined
  #heardAt = Number.NEGATIVE_INFINITY
  #listedAt = Number.NEGATIVE_INFINITY
  #readAt = Number.NEGATIVE_INFINITY

  constructor(parts: RollParts) {
    this.#parts = parts
    this.#news = new ExposureNews(parts.store)
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

  /** By which the host's own entry is known; undefined for hosts of others, and for entries of 0.1. */
  proofOf(host: string): string | undefined {
    return this.#held.get(host)?.proof
  }

  /** Whether a run of whatever instance changes the exposure at this moment, or has just taken it away. */
  async isBusy(host: string): Promise<boolean> {
    await this.#renew(host)
    return !this.#held.has(host) || this.isPaused(host)
  }

  /** Has the board tell of a host what its exposure says now. To be called when a change is committed. */
  async settle(host: string): Promise<void> {
    const { board, keeper, surroundings, firstAnswer } = this.#parts
    this.#settledAt.set(host, this.#order.ask())
    // What the edge's own files say of it is read in the next turn.
    this.#touchedHosts.add(host)
    const exposure = await this.#renew(host)
    const statuses = {
      find: (name: string) => board.find(name),
      put: (status: HostStatus) => keeper.put(status),
      remove: (name: string) => keeper.remove(name),
    }
    settleHost(statuses, host, watchedAfterRun(this.#held.get(host), surroundings), exposure, firstAnswer)
  }

  /** Brings the board's hosts up to date, where something may have changed. */
  async refresh(now: number): Promise<void> {
    await this.#hearOthers(now)
    const readEveryMs = Math.min(LONGEST_BETWEEN_READINGS_MS, this.#parts.everyMs)
    const isTouched = this.#touchedRuns.size + this.#touchedHosts.size > 0
    if (!isTouched && now - this.#readAt < readEveryMs) return
    const isListed = await this.#list(now)
    const isHeldNew = (await this.#renewTouched()) || isListed
    const asked = this.#order.ask()
    const map = await this.#parts.reader.read()
    this.#readAt = now
    await this.#meetStrangers(map, now)
    if (map !== this.#map || isHeldNew || this.#strangers.size > 0) this.#settleAll(map, asked, now)
    this.#map = map
  }

  async #list(now: number): Promise<boolean> {
    if (now - this.#listedAt < LIST_MS) return false
    const asked = this.#order.ask()
    const hosts = new Set<string>()
    for await (const exposure of eachExposure(this.#parts.store)) {
      await this.#hold(exposure.host, exposure, asked)
      hosts.add(exposure.host)
      // A store in this very program never lets anybody else have a turn by itself.
      if (hosts.size % HELD_PER_TURN === 0) await new Promise(setImmediate)
    }
    for (const host of this.#held.keys()) {
      if (hosts.has(host) || this.#order.isPassed(host, asked)) continue
      this.#held.delete(host)
      this.#order.forget(host)
    }
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

  async #renew(host: string): Promise<Exposure | undefined> {
    const asked = this.#order.ask()
    const exposure = await this.#parts.store.findExposure(host)
    await this.#hold(host, exposure, asked)
    return exposure
  }

  /** Runs of other instances, and of commands on this machine, are known by the events they leave. */
  async #hearOthers(now: number): Promise<void> {
    if (now - this.#heardAt < HEAR_MS) return
    this.#heardAt = now
    const hosts = await this.#news.hosts()
    for (const host of hosts) this.#touchedHosts.add(host)
    for (const host of hosts) await this.settle(host)
  }

  /** A run of another instance may be writing or removing the file: its exposure says so, or is gone with the file soon. */
  async #meetStrangers(map: EdgeMap, now: number): Promise<void> {
    const { hostPath } = this.#parts.surroundings
    const unknown = map.hosts.filter(({ host, configPath }) => !this.#held.has(host) && configPath === hostPath(host))
    const since = new Map(this.#strangers)
    this.#strangers.clear()
    for (const { host } of unknown) {
      await this.#renew(host)
      if (!this.#held.has(host)) this.#strangers.set(host, since.get(host) ?? now)
    }
  }

  /** Plans never change in what is asked of them here: each is read once. */
  async #hold(host: string, exposure: Exposure | undefined, asked: number): Promise<void> {
    const known = this.#held.get(host)
    const plan =
      exposure && known?.planId !== exposure.planId ? await this.#parts.store.findPlan(exposure.planId) : undefined
    if (!this.#order.arrive(host, asked)) return
    if (exposure && plan) this.#held.set(host, heldBy(exposure, plan))
    else if (exposure && known?.planId === exposure.planId) {
      this.#held.set(host, { ...known, state: exposure.state, expiresAt: exposure.expiresAt ?? null })
    } else this.#held.delete(host)
  }

  #settleAll(map: EdgeMap, asked: number, now: number): void {
    const { board, keeper, surroundings } = this.#parts
    for (const [host, at] of this.#settledAt) if (at < asked) this.#settledAt.delete(host)
    // What was read before the end of a run says nothing of its host any more.
    const isCurrent = ({ host }: { readonly host: string }) => !this.#settledAt.has(host)
    const isYoungStranger = (host: string) => now - (this.#strangers.get(host) ?? 0) < LEFT_BEHIND_MS
    const watched = watchedHosts(map, this.#held, surroundings).filter(({ host }) => !isYoungStranger(host))
    const names = new Set(watched.map(({ host }) => host))
    for (const { host } of [...board.all()].filter(isCurrent)) if (!names.has(host)) keeper.remove(host)
    for (const one of watched.filter(isCurrent)) {
      const status = board.find(one.host)
      if (!status || isAnother(status, one)) keeper.put(pending(one))
      else if (isMoved(status, one)) keeper.put({ ...status, ...one })
      // The same, word for word; but thousands of statuses from the store have words of their own, and these are shared.
      else if (!this.#map) board.put({ ...status, ...one })
    }
  }
}

const isMoved = (status: HostStatus, now: WatchedHost): boolean =>
  status.configPath !== now.configPath ||
  status.server !== now.server ||
  status.address !== now.address ||
  status.path !== now.path ||
  status.expiresAt !== now.expiresAt ||
  status.door.address !== now.door.address ||
  status.door.port !== now.door.port
