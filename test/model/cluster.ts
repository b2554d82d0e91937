import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CAPABILITY_TTL_SECONDS } from '../../src/authorize/credentials.ts'
import type { Plan } from '../../src/model/exposure.ts'
import { hostLease, type JournalEntry, type LeaseGuard, type Run } from '../../src/model/run.ts'
import { openStore } from '../../src/store/open.ts'
import type { Exposure } from '../../src/store/ports/exposures.ts'
import type { Store, StoreSession } from '../../src/store/ports/store.ts'
import { replaced } from '../support/replaced.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { withPoints } from './points.ts'
import { Clock, type Process } from './schedule.ts'
import type { BrokenSteps } from './steps.ts'
import { World } from './world.ts'

export const LEASE_MS = 30_000
export const CAPABILITY_MS = CAPABILITY_TTL_SECONDS * 1000
const PLAN_LIFE_MS = 24 * 3_600_000
export const ZONE = 'lab.test'

/** One guard that is taken out of the engine. An empty one leaves the engine as it is. */
export interface Removal {
  /** Methods that replace those of the store, alone and in transactions. */
  readonly session?: (session: StoreSession) => Partial<StoreSession>
  readonly transaction?: (store: Store) => Store['transaction']
  readonly guard?: (guard: LeaseGuard) => LeaseGuard
  /** Recovery does not ask which runs this process executes. */
  readonly recoversOwn?: boolean
  /** The world accepts a change under any fence and at any time. */
  readonly unfenced?: boolean
}

/** Two connections to one store, as two instances have them. */
export interface Stores {
  readonly pair: readonly [Store, Store]
  close(): Promise<void>
}

/** A store in memory where the system has such a folder: thousands of histories need no disk. */
export async function openStores(): Promise<Stores> {
  const folder = tempFolder(existsSync('/dev/shm') ? '/dev/shm' : undefined)
  const open = () => openStore({ kind: 'sqlite', file: join(folder.path, 'drawbridge.db') })
  const pair = [await open(), await open()] as const
  return {
    pair,
    async close() {
      await Promise.all(pair.map((store) => store.close()))
      folder[Symbol.dispose]()
    },
  }
}

/** What the store has of the hosts. */
export interface Books {
  readonly plans: ReadonlyMap<string, Plan>
  readonly runs: readonly Run[]
  readonly journals: ReadonlyMap<string, readonly JournalEntry[]>
  readonly exposures: ReadonlyMap<string, Exposure>
}

/** `main` is the host of most plans. `side` is another one, which shares its certificate. */
export type HostName = 'main' | 'side'

/** Two hosts, their plans, the world around them and the instances that serve them. */
export class Cluster {
  readonly clock = new Clock(1_000_000)
  readonly hosts: Readonly<Record<HostName, string>>
  readonly worlds: ReadonlyMap<string, World>
  readonly removal: Removal
  /** Verdicts that a follower of a run was told. */
  readonly verdicts = new Set<string>()
  /** Runs that were taken over although a process that was never paused executes them. */
  readonly robbed: string[] = []
  broken: BrokenSteps = new Map()
  /** How far the clocks of instances differ from the clock, in milliseconds. */
  readonly skews = new Map<string, number>()
  readonly #stores: readonly [Store, Store]
  readonly #planIds: string[] = []
  readonly #processes: { readonly process: Process; readonly executes: (runId: string) => boolean }[] = []
  /** When each lease ends, by its name and fence. */
  readonly #leaseEnds = new Map<string, number>()
  /** The first fence of each run on each host, by the names of both. */
  readonly #firstFences = new Map<string, number>()
  /** The hosts that each run has claimed. */
  readonly #claims = new Map<string, Set<string>>()

  constructor({ pair }: Stores, removal: Removal) {
    const id = randomBytes(8).toString('hex')
    this.hosts = { main: `${id}.${ZONE}`, side: `${id}-side.${ZONE}` }
    const worldOf = (host: string) => [host, new World(this.clock.now, !removal.unfenced)] as const
    this.worlds = new Map(Object.values(this.hosts).map(worldOf))
    this.#stores = pair
    this.removal = removal
  }

  /** Stores a plan for a host, and resolves with its id. */
  async newPlan(name: HostName, replaces?: string): Promise<string> {
    const plan = planFor(this.hosts[name], this.clock.now(), replaces)
    await this.#stores[0].insertPlan(plan)
    this.#planIds.push(plan.planId)
    return plan.planId
  }

  /** The store as an instance sees it: without the removed guard, with points, and without the runs of other histories. */
  storeOf(instance: string): Store {
    const store = this.#stores[instance === 'a' ? 0 : 1]
    const { session: removed = () => ({}), transaction: withoutGuard } = this.removal
    const here = (session: StoreSession): StoreSession => {
      const seen = replaced(session, this.#observed(session))
      return replaced(seen, removed(seen))
    }
    const transaction: Store['transaction'] = (work) => store.transaction((session) => work(here(session)))
    const observed = { ...store, ...this.#observed(store) }
    const alone = { ...observed, ...removed(observed) }
    const adopted = (runId: string) => this.#noteAdoption(runId)
    return withPoints({ ...alone, transaction: withoutGuard?.(alone) ?? transaction }, adopted)
  }

  /** Notes a process, and how to ask it whether it executes a run. */
  addProcess(process: Process, executes: (runId: string) => boolean): void {
    this.#processes.push({ process, executes })
  }

  /** Everything that the store has of the hosts. */
  async books(): Promise<Books> {
    const [store] = this.#stores
    const plans = await Promise.all(this.#planIds.map((id) => store.findPlan(id)))
    const runs = (await Promise.all(this.#planIds.map((id) => store.runsOf(id)))).flat()
    const journals = await Promise.all(runs.map(({ runId }) => store.readJournal(runId, 0)))
    const exposures = await Promise.all(Object.values(this.hosts).map((host) => store.findExposure(host)))
    return {
      plans: new Map(plans.flatMap((plan) => (plan ? [[plan.planId, plan]] : []))),
      runs,
      journals: new Map(runs.map(({ runId }, i) => [runId, journals[i] ?? []])),
      exposures: new Map(exposures.flatMap((exposure) => (exposure ? [[exposure.host, exposure]] : []))),
    }
  }

  /** The runs that held a host, in the order in which they took it. */
  runsOn(host: string, runs: readonly Run[]): readonly Run[] {
    const firstFence = ({ runId }: Run) => this.#firstFences.get(`${host} ${runId}`) ?? 0
    return runs
      .filter((run) => run.host === host || this.#claims.get(run.runId)?.has(host))
      .toSorted((one, other) => firstFence(one) - firstFence(other))
  }

  leaseEnd(host: string, fence: number): number {
    return this.#leaseEnds.get(`${hostLease(host)} ${fence}`) ?? 0
  }

  /** The number of events that told the end of a run. */
  async endingsTold(since: number): Promise<number> {
    const hosts = Object.values(this.hosts)
    const events = await this.#stores[0].readEvents(since, 1_000)
    return events.filter(({ host }) => hosts.includes(host)).length
  }

  eventHead(): Promise<number> {
    return this.#stores[0].eventHead()
  }

  leases(): Promise<unknown[]> {
    const names = Object.values(this.hosts).map(hostLease)
    return Promise.all(names.map((name) => this.#stores[0].findLease(name, this.clock.now())))
  }

  #noteAdoption(runId: string): void {
    const living = this.#processes.filter(({ process }) => process.isAwake && !process.wasPaused)
    if (living.some(({ executes }) => executes(runId))) this.robbed.push(runId)
  }

  #observed(session: StoreSession): Partial<StoreSession> {
    const hosts = Object.values(this.hosts)
    return {
      unfinishedRuns: async () => (await session.unfinishedRuns()).filter(({ host }) => hosts.includes(host)),
      takeLease: async (...given) => {
        const lease = await session.takeLease(...given)
        if (lease) this.#noteLease(lease)
        return lease
      },
      takeLeases: async (...given) => {
        const leases = await session.takeLeases(...given)
        for (const lease of leases) this.#noteLease(lease)
        return leases
      },
      renewLeases: async (leases, now, ttlMs) => {
        const renewed = await session.renewLeases(leases, now, ttlMs)
        for (const { name, fence } of leases)
          if (renewed.has(name)) this.#leaseEnds.set(`${name} ${fence}`, now + ttlMs)
        return renewed
      },
      claimExposure: async (host, planId, runId, fence) => {
        const isClaimed = await session.claimExposure(host, planId, runId, fence)
        if (isClaimed) this.#claims.set(runId, new Set([...(this.#claims.get(runId) ?? []), host]))
        return isClaimed
      },
      claimExposures: async (given, runId) => {
        const claimed = await session.claimExposures(given, runId)
        this.#claims.set(runId, new Set([...(this.#claims.get(runId) ?? []), ...claimed]))
        return claimed
      },
      passClaims: async (runId, to) => {
        if (to !== undefined) this.#claims.set(to, new Set(this.#claims.get(runId)))
        await session.passClaims(runId, to)
      },
    }
  }

  /** The holder of a lease is named by instance and run. */
  #noteLease({ name, holder, fence, expiresAt }: { name: string; holder: string; fence: number; expiresAt: number }) {
    this.#leaseEnds.set(`${name} ${fence}`, expiresAt)
    const [, runId = ''] = holder.split(' ')
    for (const host of Object.values(this.hosts)) {
      const key = `${host} ${runId}`
      if (hostLease(host) === name && !this.#firstFences.has(key)) this.#firstFences.set(key, fence)
    }
  }
}

function planFor(host: string, at: number, replaces: string | undefined): Plan {
  const id = randomBytes(13).toString('hex')
  const request = { zone: ZONE, subdomain: host.replace(`.${ZONE}`, ''), server: '25', port: 3000, health: '/' }
  return {
    planId: `plan_${id}`,
    state: 'planned',
    host,
    url: `http://${host}/`,
    request: { ...request, tls: false, ...(replaces !== undefined && { replaces }) },
    checks: [],
    changes: [],
    steps: [],
    digest: id,
    exposureId: `exposure_${id}`,
    createdAt: at,
    expiresAt: at + PLAN_LIFE_MS,
    createdBy: '192.168.45.10',
    network: 'internal',
    proof: randomBytes(32).toString('hex'),
  }
}
