import type { HostStatus } from '../model/host-status.ts'
import type { Clock } from '../primitives/clock.ts'
import type { EventStore } from '../store/ports/events.ts'
import { type Exposure, type ExposureStore, eachExposure } from '../store/ports/exposures.ts'
import type { HostStore } from '../store/ports/hosts.ts'
import type { PlanStore } from '../store/ports/plans.ts'
import type { RunStore } from '../store/ports/runs.ts'
import type { Board } from './board.ts'
import { ExposureChanges, ReadOrder } from './read-order.ts'
import { type FirstAnswer, repairTime, syncHost } from './sync-host.ts'
import { type EdgeEnvironment, watchedAfterRun, watchedExposure } from './watched.ts'

interface FollowerParts {
  readonly store: HostStore & ExposureStore & PlanStore & EventStore & Pick<RunStore, 'runsOf'>
  readonly board: Board
  /** Undefined if the Primary's edge is not on this machine. Then new hosts come only from the rows of the other instance. */
  readonly environment: EdgeEnvironment | undefined
  readonly firstAnswer: FirstAnswer
  readonly clock: Clock
}

/** The exposure of a host that changed. Rows with another plan or end, or from before its repair, are ignored. */
interface ExpectedExposure extends Pick<HostStatus, 'planId' | 'expiresAt'> {
  readonly repairedAt?: number | undefined
  /** By the monotonic clock. */
  readonly since: number
}

/** Compare all hosts when more than this many are ahead of the rows of the other instance. */
const MOST_AHEAD = 100
/** How long after a removal the checking instance may still write an outdated row. */
const LATE_MS = 10_000

/** Copies the host statuses of the instance that checks. Changed exposures are shown at once, without waiting for its rows. */
export class Follower {
  readonly #parts: FollowerParts
  readonly #exposureChanges: ExposureChanges
  readonly #order = new ReadOrder()
  /** Hosts whose exposures changed, until the checking instance has written a row for the new exposure. */
  readonly #ahead = new Map<string, ExpectedExposure>()
  #version = -1
  #compared = ''

  constructor(parts: FollowerParts) {
    this.#parts = parts
    this.#exposureChanges = new ExposureChanges(parts.store)
  }

  async update(): Promise<void> {
    const { store, board } = this.#parts
    for (const host of await this.#exposureChanges.hosts()) await this.sync(host)
    const { count, version } = await store.hostsSummary()
    if (this.#version < 0) await this.#takeFirst()
    else if (version > this.#version)
      for (const status of await store.readHosts(this.#version)) await this.#take(status)
    this.#version = version
    if (board.size !== count || this.#ahead.size > MOST_AHEAD) await this.#compareAll(count)
  }

  /** Updates a host on the board from its exposure. */
  async sync(host: string): Promise<void> {
    const { store, board, environment, firstAnswer, clock } = this.#parts
    const asked = this.#order.begin()
    const exposure = await store.findExposure(host)
    const plan = exposure && (await store.findPlan(exposure.planId))
    const repairedAt = exposure && (await repairTime(store, exposure))
    const held = plan && watchedExposure(exposure, plan)
    const watched = environment && (await watchedAfterRun(held, environment))
    if (!this.#order.arrive(host, asked)) return
    if (held && !environment) return this.#updateExpiry(exposure)
    const { planId = null, expiresAt = null } = watched ?? {}
    this.#ahead.set(host, { planId, expiresAt, repairedAt, since: clock.monotonic() })
    const statuses = {
      find: (name: string) => board.find(name),
      // Only the checking instance increases `changed`. A client that resumes a stream must not miss its next numbers.
      put: (status: HostStatus) => board.put({ ...status, changed: Math.max(status.changed, board.changed) }),
      remove: (name: string) => board.remove(name),
    }
    syncHost(statuses, host, { watched, exposure, repairedAt, firstAnswer })
  }

  #updateExpiry({ host, planId, ...exposure }: Exposure): void {
    const expiresAt = exposure.expiresAt ?? null
    const status = this.#parts.board.find(host)
    if (status?.planId !== planId) return
    this.#ahead.set(host, { planId, expiresAt, since: this.#parts.clock.monotonic() })
    this.#parts.board.put({ ...status, expiresAt })
  }

  /** Nobody may have checked for a while: rows can be of exposures that ended meanwhile, after a kill or in a restored store. */
  async #takeFirst(): Promise<void> {
    const { store } = this.#parts
    const plans = new Map<string, string>()
    for await (const { host, planId } of eachExposure(store)) plans.set(host, planId)
    for (const status of await store.readHosts(-1)) {
      const isOutdated = status.planId !== null && plans.get(status.host) !== status.planId
      await (isOutdated ? this.sync(status.host) : this.#take(status))
    }
  }

  /** Ignores a row that was written before the exposure changed. */
  async #take(status: HostStatus): Promise<void> {
    const { host } = status
    const expected = this.#ahead.get(host)
    if (expected && isOlder(status, expected)) return this.sync(host)
    this.#ahead.delete(host)
    this.#parts.board.put(status)
  }

  /** Finds removed hosts. Their rows are deleted, so only a comparison of all hosts shows them. */
  async #compareAll(count: number): Promise<void> {
    const { store, board, clock } = this.#parts
    const state = () => [board.size, count, this.#version, this.#ahead.size].join()
    if (state() === this.#compared) return
    const all = await store.readHosts(-1)
    const names = new Set(all.map(({ host }) => host))
    for (const { host } of [...board.all()]) if (!names.has(host) && !this.#ahead.get(host)?.planId) board.remove(host)
    for (const [host, { planId, since }] of [...this.#ahead]) {
      if (names.has(host) || planId !== null || clock.monotonic() - since < LATE_MS) continue
      this.#ahead.delete(host)
      this.#order.forget(host)
    }
    for (const status of all) await this.#take(status)
    this.#compared = state()
  }
}

/** The checking instance wrote the row before the exposure changed. */
const isOlder = ({ planId, expiresAt, lastCheck }: HostStatus, expected: ExpectedExposure): boolean =>
  expected.planId !== planId || expected.expiresAt !== expiresAt || (lastCheck?.at ?? 0) < (expected.repairedAt ?? 0)
