import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AuditTrail } from '../../src/audit/trail.ts'
import { Admission } from '../../src/authorize/admission.ts'
import { CAPABILITY_TTL_SECONDS } from '../../src/authorize/credentials.ts'
import type { CapabilityAction } from '../../src/model/capability.ts'
import { Problem } from '../../src/model/errors.ts'
import type { Plan } from '../../src/model/exposure.ts'
import { hostLease, type JournalEntry, type LeaseGuard, type Run } from '../../src/model/run.ts'
import type { PlanSettings } from '../../src/plan/settings.ts'
import { begin } from '../../src/runs/engine/begin.ts'
import { recover } from '../../src/runs/engine/recover.ts'
import { acceptBlocked, resolve } from '../../src/runs/engine/resolve.ts'
import { type Carried, type RunResult, Runs } from '../../src/runs/engine/runs.ts'
import type { Step } from '../../src/runs/engine/step.ts'
import { createLog } from '../../src/runtime/log.ts'
import { openStore } from '../../src/store/open.ts'
import type { Exposure } from '../../src/store/ports/exposures.ts'
import { type Store, type StoreSession, StoreUnavailable } from '../../src/store/ports/store.ts'
import { Exposer } from '../../src/usecases/exposer.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { withPoints } from './points.ts'
import { Clock, type Ended, Operation, Process, passCrashPoint, type Stop } from './schedule.ts'
import { type BrokenSteps, type Place, stepsOf } from './steps.ts'
import { World } from './world.ts'

export const LEASE_MS = 30_000
export const CAPABILITY_MS = CAPABILITY_TTL_SECONDS * 1000
/** A periodic recovery leaves younger runs alone, as the service's housekeeping does. */
const JUST_BEGUN_MS = 5_000
const PLAN_LIFE_MS = 24 * 3_600_000
const ZONE = 'lab.test'

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

/** What a caller was told. */
export type Answer =
  | { readonly kind: 'succeeded' | 'rolled_back' | 'blocked'; readonly runId: string }
  | { readonly kind: 'refused' | 'unfinished' | 'fault'; readonly reason: string }
  | { readonly kind: 'nothing' }

/** What a caller asks for, the credential that it shows, and from where. */
export interface Asked {
  readonly action: CapabilityAction
  readonly planId: string
  /** A repair may overwrite what somebody else wrote. */
  readonly overwrite: boolean
  readonly capability: string
  readonly address: string
  /** The plan was changed after the capability was issued. */
  readonly otherDigest: boolean
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
  /** Verdicts that a follower of a run was told. */
  readonly verdicts = new Set<string>()
  /** Runs that were taken over although a process that was never paused executes them. */
  readonly robbed: string[] = []
  broken: BrokenSteps = new Map()
  /** How far the clocks of instances differ from the clock, in milliseconds. */
  readonly skews = new Map<string, number>()
  readonly #stores: readonly [Store, Store]
  readonly #removal: Removal
  readonly #planIds: string[] = []
  readonly #instances: Instance[] = []
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
    this.#removal = removal
  }

  /** Stores a plan for a host, and resolves with its id. */
  async newPlan(name: HostName, replaces?: string): Promise<string> {
    const plan = planFor(this.hosts[name], this.clock.now(), replaces)
    await this.#stores[0].insertPlan(plan)
    this.#planIds.push(plan.planId)
    return plan.planId
  }

  startInstance(name: string): Instance {
    const store = this.#storeFor(this.#stores[name === 'a' ? 0 : 1])
    const parts = { cluster: this, store, removal: this.#removal }
    const instance = new Instance(new Process(name, this.clock), parts)
    this.#instances.push(instance)
    return instance
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

  /** The store without the removed guard, with points, and without the runs of other histories. */
  #storeFor(store: Store): Store {
    const { session: removed = () => ({}), transaction: withoutGuard } = this.#removal
    const here = (session: StoreSession): StoreSession => {
      const observed = this.#observed(session)
      return { ...observed, ...removed(observed) }
    }
    const transaction: Store['transaction'] = (work) => store.transaction((session) => work(here(session)))
    const alone = { ...store, ...here(store) }
    const adopted = (runId: string) => this.#noteAdoption(runId)
    return withPoints({ ...alone, transaction: withoutGuard?.(alone) ?? transaction }, adopted)
  }

  #noteAdoption(runId: string): void {
    const living = this.#instances.filter(({ process }) => process.isAwake && !process.wasPaused)
    if (living.some(({ executes }) => executes(runId))) this.robbed.push(runId)
  }

  #observed(session: StoreSession): StoreSession {
    const hosts = Object.values(this.hosts)
    return {
      ...session,
      unfinishedRuns: async () => (await session.unfinishedRuns()).filter(({ host }) => hosts.includes(host)),
      takeLease: async (...given) => {
        const lease = await session.takeLease(...given)
        if (lease) this.#noteLease(lease)
        return lease
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
    digest: id,
    createdAt: at,
    expiresAt: at + PLAN_LIFE_MS,
    createdBy: CALLER.address,
  }
}

interface InstanceParts {
  readonly cluster: Cluster
  readonly store: Store
  readonly removal: Removal
}

const CALLER = { address: '192.168.45.10', network: 'internal', unconfiguredProxy: false } as const
const NO_CREDENTIALS = { capability: undefined, adminToken: undefined }
const ADMISSION = new Admission({ flow: 'capability', adminToken: 'off' }, undefined)
const LOG = createLog('silent', [])

/** One process of the service, with the real engine on a store with points. */
export class Instance {
  readonly process: Process
  /** Whether this process executes a run. */
  readonly executes: (runId: string) => boolean
  readonly #parts: InstanceParts
  readonly #runs: Runs

  constructor(process: Process, parts: InstanceParts) {
    this.process = process
    this.#parts = parts
    this.#runs = this.#composeRuns()
    this.executes = this.#runs.isUnderWay
  }

  /** Issues a capability without stopping at any point. */
  async grant(planId: string, action: CapabilityAction): Promise<string> {
    const granted = await this.#exposer(false).grant(planId, action, CALLER, NO_CREDENTIALS)
    return granted.capability
  }

  request(asked: Asked, stop?: Stop): Operation<Answer> {
    return this.#operation(stop, async () => (await this.#started(asked)).result)
  }

  /** `atStart`: the process has just started and executes no run. */
  recover(atStart: boolean, stop?: Stop): Operation<Answer> {
    const { removal } = this.#parts
    if (removal.recoversOwn) this.#runs.isUnderWay = () => false
    const begunBefore = atStart ? undefined : this.#now() - JUST_BEGUN_MS
    return this.#operation(stop, () => recover({ ...this.#engine, log: LOG }, begunBefore).then(() => undefined))
  }

  /** `accepts`: leaves everything as it stands instead of undoing it. */
  resolve(planId: string, accepts: boolean, stop?: Stop): Operation<Answer> {
    return this.#operation(stop, () => (accepts ? acceptBlocked : resolve)(planId, this.#engine))
  }

  get #engine() {
    return { store: this.#parts.store, runs: this.#runs, instance: this.process.instance, now: this.#now }
  }

  readonly #now = (): number => {
    const { clock, skews } = this.#parts.cluster
    return clock.now() + (skews.get(this.process.instance) ?? 0)
  }

  #operation(stop: Stop | undefined, work: () => Promise<RunResult | undefined>): Operation<Answer> {
    const operation: Operation<Answer> = new Operation<Answer>(this.process, stop, () =>
      work().then(
        (result): Answer => (result ? { kind: result.outcome.kind, runId: result.run.runId } : { kind: 'nothing' }),
        (error: unknown) => answerOf(error, operation.run !== undefined),
      ),
    )
    return operation
  }

  #started(asked: Asked): Promise<{ readonly result: Promise<RunResult> }> {
    const { action, planId, capability, address, overwrite, otherDigest } = asked
    const exposer = this.#exposer(otherDigest)
    const caller = { ...CALLER, address }
    const credentials = { ...NO_CREDENTIALS, capability }
    switch (action) {
      case 'apply':
        return exposer.apply(planId, caller, credentials)
      case 'remove':
        return exposer.remove(planId, caller, credentials)
      case 'repair':
        return exposer.repair(planId, overwrite, caller, credentials)
      case 'accept':
        return exposer.accept(planId, caller, credentials)
      case 'renew':
        return this.#renew(asked, exposer)
    }
  }

  /** Begins a renewal of all hosts that are exposed, as the service does for the hosts of one certificate. */
  async #renew(asked: Asked, exposer: Exposer): Promise<{ readonly result: Promise<RunResult> }> {
    const { store, cluster } = this.#parts
    const { instance, runs, now } = this.#engine
    const plan = await exposer.findPlan(asked.planId)
    const others = Object.values(cluster.hosts).filter((host) => host !== plan.host)
    const exposures = await Promise.all(others.map((host) => store.findExposure(host)))
    const members = exposures.filter((exposure) => exposure !== undefined)
    const begun = await store.transaction(async (session) => {
      const { capability, address } = asked
      const credentials = { ...NO_CREDENTIALS, capability }
      const right = await ADMISSION.prove('renew', plan, { ...CALLER, address }, credentials, session, now())
      const origin = { actor: address, network: CALLER.network, right }
      const run = { action: 'renew', plan, members, origin, instance, leaseMs: runs.leaseMs, at: now() } as const
      return begin(run, session)
    })
    return { result: runs.start({ plan, ...begun }) }
  }

  #composeRuns(): Runs {
    const { cluster, store } = this.#parts
    const runs = new Runs({
      store,
      trail: new AuditTrail(store),
      log: LOG,
      instance: this.process.instance,
      leaseMs: LEASE_MS,
      crashPoint: passCrashPoint,
      publish: (_host, commit) => commit(),
      now: this.#now,
      renewedFiles: (host, _former, placed) => placed.filter(({ path }) => path === host),
      stepsFor: (carried, held) => this.#stepsFor(carried, held),
    })
    runs.listen(({ mark }, { runId }) => {
      if (mark === 'verdict') cluster.verdicts.add(runId)
    })
    return runs
  }

  async #stepsFor({ plan, run, task, leases }: Carried, held: LeaseGuard): Promise<readonly Step[]> {
    const { cluster, store, removal } = this.#parts
    const exposure = await store.findExposure(plan.host)
    const members = run.action === 'renew' ? await store.exposuresOf(run.runId) : []
    const placeAt = (host: string, receipt: Exposure['receipt']): Place[] => {
      const world = cluster.worlds.get(host)
      const fence = leases.find(({ name }) => name === hostLease(host))?.fence
      return world && fence !== undefined ? [{ host, world, fence, receipt }] : []
    }
    const others = members.filter(({ host }) => host !== plan.host)
    const [first, ...further] = [
      ...placeAt(plan.host, exposure?.receipt),
      ...others.flatMap(({ host, receipt }) => placeAt(host, receipt)),
    ]
    if (!first) throw new Error('The run has no lease on its host.')
    const guard = removal.guard?.(held) ?? held
    const { now } = cluster.clock
    return stepsOf({ plan, run, task, places: [first, ...further], guard, broken: () => cluster.broken, now })
  }

  #exposer(otherDigest: boolean): Exposer {
    const { store } = this.#parts
    const findPlan: Store['findPlan'] = async (planId) => {
      const plan = await store.findPlan(planId)
      return plan && { ...plan, digest: otherDigest ? `${plan.digest} changed` : plan.digest }
    }
    return new Exposer({
      settings: SETTINGS,
      planTtlSeconds: PLAN_LIFE_MS / 1000,
      observe: () => Promise.reject(new Error('The model makes its own plans.')),
      store: { ...store, findPlan },
      trail: new AuditTrail(store),
      admission: ADMISSION,
      runs: this.#runs,
      publish: (_host, commit) => commit(),
      renewals: undefined,
      stepsToRepair: async () => ['proxy', 'dns', 'verify'],
      reportCertificate: () => undefined,
      assertEquipped: () => undefined,
      instance: this.process.instance,
      now: this.#now,
    })
  }
}

const SETTINGS: PlanSettings = {
  targets: ['25'],
  addresses: {},
  zones: new Map([[ZONE, { ttl: 60, publish: [] }]]),
  edge: { http: 80, https: 443 },
  ports: { allowed: [], denied: [], deniedOn: {} },
  challenge: 'dns-01',
}

function answerOf(error: unknown, hasBegun: boolean): Answer {
  if (error instanceof StoreUnavailable) return { kind: 'unfinished', reason: 'unavailable' }
  if (!(error instanceof Problem)) return { kind: 'fault', reason: String(error) }
  return { kind: hasBegun ? 'unfinished' : 'refused', reason: error.code }
}

/** The answer of an operation that has ended. */
export const answerIn = (ended: Ended<Answer> | undefined): Answer | undefined => {
  if (!ended) return undefined
  return 'value' in ended ? ended.value : { kind: 'fault', reason: String(ended.error) }
}
