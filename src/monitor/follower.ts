import type { HostStatus } from '../model/host-status.ts'
import type { EventStore } from '../store/ports/events.ts'
import type { Exposure, ExposureStore } from '../store/ports/exposures.ts'
import type { HostStore } from '../store/ports/hosts.ts'
import type { PlanStore } from '../store/ports/plans.ts'
import type { Board } from './board.ts'
import { ExposureNews, ReadOrder } from './read-order.ts'
import { type FirstAnswer, settleHost } from './settle-host.ts'
import { heldBy, type Surroundings, watchedAfterRun } from './watched.ts'

interface FollowerParts {
  readonly store: HostStore & ExposureStore & PlanStore & EventStore
  readonly board: Board
  /** Undefined where the Primary's edge is not on this machine: then a new host comes with what the other instance wrote. */
  readonly surroundings: Surroundings | undefined
  readonly firstAnswer: FirstAnswer
  readonly now: () => number
}

/** Of an exposure what the asking instance must have written before its row of the host counts again. */
interface Booked extends Pick<HostStatus, 'planId' | 'expiresAt'> {
  readonly since: number
}

/** So many hosts may be ahead of what the other instance wrote before all are compared. */
const MOST_AHEAD = 100
/** So long the asking instance may still write what it read before a removal. */
const LATE_MS = 10_000

/** Reads along what another instance sees of the hosts. Exposures that changed since are told at once. */
export class Follower {
  readonly #parts: FollowerParts
  readonly #news: ExposureNews
  readonly #order = new ReadOrder()
  /** Hosts whose exposures changed, until the asking instance has written them accordingly. */
  readonly #ahead = new Map<string, Booked>()
  #version = -1
  #compared = ''

  constructor(parts: FollowerParts) {
    this.#parts = parts
    this.#news = new ExposureNews(parts.store)
  }

  async look(): Promise<void> {
    const { store, board } = this.#parts
    for (const host of await this.#news.hosts()) await this.settle(host)
    const { count, version } = await store.hostsMark()
    if (version > this.#version) for (const status of await store.readHosts(this.#version)) await this.#take(status)
    this.#version = version
    if (board.size !== count || this.#ahead.size > MOST_AHEAD) await this.#compareAll(count)
  }

  /** Has the board tell of a host what its exposure says now. */
  async settle(host: string): Promise<void> {
    const { store, board, surroundings, firstAnswer, now } = this.#parts
    const asked = this.#order.ask()
    const exposure = await store.findExposure(host)
    const plan = exposure && (await store.findPlan(exposure.planId))
    if (!this.#order.arrive(host, asked)) return
    const held = plan && heldBy(exposure, plan)
    const watched = surroundings && watchedAfterRun(held, surroundings)
    if (held && !surroundings) return this.#prolong(exposure)
    const { planId = null, expiresAt = null } = watched ?? {}
    this.#ahead.set(host, { planId, expiresAt, since: now() })
    const statuses = {
      find: (name: string) => board.find(name),
      // Counts of changes belong to the asking instance: a client that comes back must not miss what it will count.
      put: (status: HostStatus) => board.put({ ...status, changed: Math.max(status.changed, board.changed) }),
      remove: (name: string) => board.remove(name),
    }
    settleHost(statuses, host, watched, exposure, firstAnswer)
  }

  #prolong({ host, planId, ...exposure }: Exposure): void {
    const expiresAt = exposure.expiresAt ?? null
    const status = this.#parts.board.find(host)
    if (status?.planId !== planId) return
    this.#ahead.set(host, { planId, expiresAt, since: this.#parts.now() })
    this.#parts.board.put({ ...status, expiresAt })
  }

  /** A row that was written before the exposure changed is out of date. */
  async #take(status: HostStatus): Promise<void> {
    const { host, planId, expiresAt } = status
    const booked = this.#ahead.get(host)
    if (booked && (booked.planId !== planId || booked.expiresAt !== expiresAt)) return this.settle(host)
    this.#ahead.delete(host)
    this.#parts.board.put(status)
  }

  /** Nobody tells of hosts that are gone: only a look at all of them does. */
  async #compareAll(count: number): Promise<void> {
    const { store, board, now } = this.#parts
    const state = () => [board.size, count, this.#version, this.#ahead.size].join()
    if (state() === this.#compared) return
    const all = await store.readHosts(-1)
    const names = new Set(all.map(({ host }) => host))
    for (const { host } of [...board.all()]) if (!names.has(host) && !this.#ahead.get(host)?.planId) board.remove(host)
    for (const [host, { planId, since }] of [...this.#ahead]) {
      if (names.has(host) || planId !== null || now() - since < LATE_MS) continue
      this.#ahead.delete(host)
      this.#order.forget(host)
    }
    for (const status of all) await this.#take(status)
    this.#compared = state()
  }
}
