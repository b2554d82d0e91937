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
import { recover } from '../../src/runs/engine/recover.ts'
import { resolve } from '../../src/runs/engine/resolve.ts'
import { type RunResult, Runs } from '../../src/runs/engine/runs.ts'
import { createLog } from '../../src/runtime/log.ts'
import { openStore } from '../../src/store/open.ts'
import type { Exposure } from '../../src/store/ports/exposures.ts'
import { type Store, type StoreSession, StoreUnavailable } from '../../src/store/ports/store.ts'
import { Exposer } from '../../src/usecases/exposer.ts'
import { tempFolder } from '../support/temp-folder.ts'
import {
  Clock,
  counted,
  currentOperation,
  type Ended,
  Operation,
  PowerLoss,
  Process,
  passCrashPoint,
  passInTransaction,
  point,
  type Stop,
} from './schedule.ts'
import { type BrokenSteps, stepsOf } from './steps.ts'
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

/** A credential that a caller shows, and from where. */
export interface Credential {
  readonly capability: string
  readonly address: string
  /** The plan was changed after the capability was issued. */
  readonly otherDigest: boolean
}

/** One host, its plans, the world around it and the instances that serve it. */
export class Cluster {
  readonly clock = new Clock(1_000_000)
  readonly world: World
  /** Verdicts that a follower of a run was told. */
  readonly verdicts = new Set<string>()
  /** Runs that were taken over although a process that was never paused executes them. */
  readonly robbed: string[] = []
  /** When each lease of the host ends, by its fence. */
  readonly leaseEnds = new Map<number, number>()
  broken: BrokenSteps = new Map()
  readonly #stores: readonly [Store, Store]
  readonly #removal: Removal
  readonly #host = `${randomBytes(8).toString('hex')}.${ZONE}`
  readonly #planIds: string[] = []
  readonly #instances: Instance[] = []

  constructor({ pair }: Stores, removal: Removal) {
    this.#stores = pair
    this.#removal = removal
    this.world = new World(this.clock.now, !removal.unfenced)
  }

  /** Stores a plan for the host, and resolves with its id. */
  async newPlan(replaces?: string): Promise<string> {
    const id = randomBytes(13).toString('hex')
    const at = this.clock.now()
    const plan: Plan = {
      planId: `plan_${id}`,
      state: 'planned',
      host: this.#host,
      url: `http://${this.#host}/`,
      request: {
        zone: ZONE,
        subdomain: this.#host.replace(`.${ZONE}`, ''),
        server: '25',
        port: 3000,
        health: '/',
        tls: false,
        ...(replaces !== undefined && { replaces }),
      },
      checks: [],
      changes: [],
      digest: id,
      createdAt: at,
      expiresAt: at + PLAN_LIFE_MS,
      createdBy: '192.168.45.10',
    }
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

  /** Everything that the store has of the host. */
  async books(): Promise<Books> {
    const [store] = this.#stores
    const plans = await Promise.all(this.#planIds.map(async (id) => store.findPlan(id)))
    const runs = (await Promise.all(this.#planIds.map((id) => store.runsOf(id)))).flat()
    const journals = await Promise.all(runs.map(({ runId }) => store.readJournal(runId, 0)))
    return {
      plans: new Map(plans.flatMap((plan) => (plan ? [[plan.planId, plan]] : []))),
      runs: runs.toSorted((one, other) => one.fence - other.fence),
      journals: new Map(runs.map(({ runId }, i) => [runId, journals[i] ?? []])),
      exposure: await store.findExposure(this.#host),
    }
  }

  /** The number of events that told the end of a run of the host. */
  async endingsTold(since: number): Promise<number> {
    const events = await this.#stores[0].readEvents(since, 1_000)
    return events.filter(({ host }) => host === this.#host).length
  }

  eventHead(): Promise<number> {
    return this.#stores[0].eventHead()
  }

  leaseOf(): ReturnType<Store['findLease']> {
    return this.#stores[0].findLease(hostLease(this.#host), this.clock.now())
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
    return {
      ...session,
      unfinishedRuns: async () => (await session.unfinishedRuns()).filter(({ host }) => host === this.#host),
      takeLease: async (...given) => {
        const lease = await session.takeLease(...given)
        if (lease) this.leaseEnds.set(lease.fence, lease.expiresAt)
        return lease
      },
      renewLeases: async (leases, now, ttlMs) => {
        const renewed = await session.renewLeases(leases, now, ttlMs)
        for (const { name, fence } of leases) if (renewed.has(name)) this.leaseEnds.set(fence, now + ttlMs)
        return renewed
      },
    }
  }
}

/** What the store has of a host. Runs are in the order of their fences. */
export interface Books {
  readonly plans: ReadonlyMap<string, Plan>
  readonly runs: readonly Run[]
  readonly journals: ReadonlyMap<string, readonly JournalEntry[]>
  readonly exposure: Exposure | undefined
}

/** The same store. Its caller passes a point before every call, inside every transaction and after every commit. */
function withPoints(store: Store, adopted: (runId: string) => void): Store {
  const alone = mapMethods(store, (name, call) => async (...given) => {
    const trouble = await point(labelOf(name, given))
    if (trouble === 'outage') throw silence()
    const answer = await counted(() => call(...given))
    if (trouble === 'lost') throw silence()
    return answer
  })
  return {
    ...alone,
    insertRun: async (run) => {
      await alone.insertRun(run)
      noteRun(run)
    },
    adoptRun: async (runId, holder, fence) => {
      const isAdopted = await alone.adoptRun(runId, holder, fence)
      if (!isAdopted) return false
      adopted(runId)
      noteRun({ runId, fence })
      return true
    },
    async transaction(work) {
      if ((await point('transaction')) === 'outage') throw silence()
      let begun: Run | undefined
      const writes: string[] = []
      const commit = store.transaction(async (session) => {
        const inside = mapMethods(session, (name, call) => async (...given) => {
          const label = labelOf(name, given)
          passInTransaction(label)
          if (name === 'appendJournal') writes.push(label)
          return call(...given)
        })
        return work({
          ...inside,
          insertRun: async (run) => {
            await inside.insertRun(run)
            begun = run
          },
        })
      })
      const result = await counted(() => commit).catch((error: unknown) => {
        if (error instanceof PowerLoss) return currentOperation()?.gate(false).then(never) ?? never()
        throw error
      })
      if (begun) noteRun(begun)
      if ((await point(`committed: ${writes.join(', ')}`)) === 'lost') throw silence()
      return result
    },
  }
}

const silence = (): StoreUnavailable => new StoreUnavailable(new Error('the model made the store silent'))

const never = (): Promise<never> => new Promise(() => undefined)

function noteRun({ runId, fence }: { readonly runId: string; readonly fence: number }): void {
  const operation = currentOperation()
  if (operation) operation.run = { runId, fence }
}

type Method = (...given: unknown[]) => Promise<unknown>

function mapMethods<T extends StoreSession>(session: T, map: (name: string, call: Method) => Method): T {
  const methods = Object.entries(session as unknown as Record<string, Method>)
  return Object.fromEntries(methods.map(([name, call]) => [name, map(name, call)])) as unknown as T
}

function labelOf(name: string, [first]: readonly unknown[]): string {
  if (name !== 'appendJournal') return name
  const { step, mark } = first as JournalEntry
  return `write ${step} ${mark}`
}

interface InstanceParts {
  readonly cluster: Cluster
  readonly store: Store
  readonly removal: Removal
}

const CALLER = { address: '192.168.45.10', network: 'internal', unconfiguredProxy: false } as const
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

  request(
    action: CapabilityAction,
    planId: string,
    { capability, address, otherDigest }: Credential,
    stop?: Stop,
  ): Operation<Answer> {
    const exposer = this.#exposer(otherDigest)
    const caller = { ...CALLER, address }
    const credentials = { ...NO_CREDENTIALS, capability }
    return this.#operation(stop, async () => {
      const started = await (action === 'apply'
        ? exposer.apply(planId, caller, credentials)
        : exposer.remove(planId, caller, credentials))
      return started.result
    })
  }

  /** `atStart`: the process has just started and executes no run. */
  recover(atStart: boolean, stop?: Stop): Operation<Answer> {
    const { store, cluster, removal } = this.#parts
    const runs = this.#runs
    if (removal.recoversOwn) runs.isUnderWay = () => false
    const { now } = cluster.clock
    const parts = { store, runs, instance: this.process.instance, log: LOG, now }
    const begunBefore = atStart ? undefined : now() - JUST_BEGUN_MS
    return this.#operation(stop, () => recover(parts, begunBefore).then(() => undefined))
  }

  resolve(planId: string, stop?: Stop): Operation<Answer> {
    const { store, cluster } = this.#parts
    const parts = { store, runs: this.#runs, instance: this.process.instance, now: cluster.clock.now }
    return this.#operation(stop, () => resolve(planId, parts))
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

  #composeRuns(): Runs {
    const { cluster, store, removal } = this.#parts
    const { world, clock } = cluster
    const runs = new Runs({
      store,
      trail: new AuditTrail(store),
      log: LOG,
      instance: this.process.instance,
      leaseMs: LEASE_MS,
      crashPoint: passCrashPoint,
      publish: (_host, commit) => commit(),
      now: clock.now,
      renewedFiles: (_host, former) => former,
      stepsFor: async ({ plan, run }, held) => {
        const receipt = (await store.findExposure(plan.host))?.receipt
        const guard = removal.guard?.(held) ?? held
        return stepsOf({ plan, run, receipt, guard, world, broken: () => cluster.broken, now: clock.now })
      },
    })
    runs.listen(({ mark }, { runId }) => {
      if (mark === 'verdict') cluster.verdicts.add(runId)
    })
    return runs
  }

  #exposer(otherDigest: boolean): Exposer {
    const { cluster, store } = this.#parts
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
      admission: new Admission({ flow: 'capability', adminToken: 'off' }, undefined),
      runs: this.#runs,
      publish: (_host, commit) => commit(),
      renewals: undefined,
      stepsToRepair: async () => [],
      reportCertificate: () => undefined,
      assertEquipped: () => undefined,
      instance: this.process.instance,
      now: cluster.clock.now,
    })
  }
}

const NO_CREDENTIALS = { capability: undefined, adminToken: undefined }

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
