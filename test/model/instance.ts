import { AuditTrail } from '../../src/audit/trail.ts'
import { Admission } from '../../src/authorize/admission.ts'
import type { CapabilityAction } from '../../src/model/capability.ts'
import { Problem } from '../../src/model/errors.ts'
import { hostLease, type LeaseGuard } from '../../src/model/run.ts'
import type { PlanSettings } from '../../src/plan/settings.ts'
import type { Carried } from '../../src/runs/engine/begin.ts'
import type { RunResult } from '../../src/runs/engine/ending.ts'
import { recover } from '../../src/runs/engine/recover.ts'
import { resolve } from '../../src/runs/engine/resolve.ts'
import { Runs } from '../../src/runs/engine/runs.ts'
import type { Step } from '../../src/runs/engine/step.ts'
import { createLog } from '../../src/runtime/log.ts'
import type { Exposure } from '../../src/store/ports/exposures.ts'
import { type Store, StoreUnavailable } from '../../src/store/ports/store.ts'
import { Exposer } from '../../src/usecases/exposer.ts'
import { Plans } from '../../src/usecases/plans.ts'
import { type Cluster, LEASE_MS, ZONE } from './cluster.ts'
import { type Ended, modelClock, Operation, Process, passCrashPoint, type Stop } from './schedule.ts'
import { type Place, stepsOf } from './steps.ts'

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

const CALLER = { address: '192.168.45.10', network: 'internal', unconfiguredProxy: false } as const
const NO_CREDENTIALS = { capability: undefined, adminToken: undefined }
const ADMISSION = new Admission({ flow: 'capability', adminToken: 'off' }, () => undefined)
const LOG = createLog('silent', [])

/** A periodic recovery leaves younger runs alone, as the service's housekeeping does. */
const JUST_BEGUN_MS = 5_000

/** One process of the service, with the real engine on a store with points. */
export class Instance {
  readonly process: Process
  readonly #cluster: Cluster
  readonly #store: Store
  readonly #runs: Runs

  constructor(name: string, cluster: Cluster) {
    this.process = new Process(name, cluster.clock)
    this.#cluster = cluster
    this.#store = cluster.storeOf(name)
    this.#runs = this.#composeRuns()
    cluster.addProcess(this.process, this.#runs.isUnderWay)
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
    if (this.#cluster.removal.recoversOwn) this.#runs.isUnderWay = () => false
    const begunBefore = atStart ? undefined : this.#now() - JUST_BEGUN_MS
    return this.#operation(stop, () => recover({ ...this.#engine, log: LOG }, begunBefore).then(() => undefined))
  }

  /** `accepts`: leaves everything as it stands instead of undoing it. */
  resolve(planId: string, accepts: boolean, stop?: Stop): Operation<Answer> {
    return this.#operation(stop, () => resolve(planId, accepts ? 'accept' : 'undo', this.#engine))
  }

  get #engine() {
    const { instance } = this.process
    return { store: this.#store, runs: this.#runs, instance, clock: this.#clock, stepsToRepair: async () => [] }
  }

  readonly #now = (): number => {
    const { clock, skews } = this.#cluster
    return clock.now() + (skews.get(this.process.instance) ?? 0)
  }
  readonly #clock = modelClock(this.#now)

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
      case 'adopt':
        return exposer.apply(planId, caller, credentials)
      case 'release':
        return exposer.release(planId, caller, credentials, async () => undefined)
      case 'accept':
        return exposer.accept(planId, caller, credentials)
      case 'renew':
        return this.#renew(asked)
    }
  }

  /** Begins a renewal of all hosts that are exposed, as the service does for the hosts of one certificate. */
  async #renew(asked: Asked): Promise<{ readonly result: Promise<RunResult> }> {
    const { store, runs } = this.#engine
    const plan = await this.#plans(asked.otherDigest).find(asked.planId)
    const others = Object.values(this.#cluster.hosts).filter((host) => host !== plan.host)
    const exposures = await Promise.all(others.map((host) => store.findExposure(host)))
    const members = exposures.filter((exposure) => exposure !== undefined)
    const begun = await store.transaction(async (session) => {
      const { capability, address } = asked
      const credentials = { ...NO_CREDENTIALS, capability }
      const right = await ADMISSION.prove('renew', plan, { ...CALLER, address }, credentials, session, this.#now())
      const origin = { actor: address, network: CALLER.network, right }
      return runs.begin({ action: 'renew', plan, members, origin }, session)
    })
    return { result: runs.start(begun) }
  }

  #composeRuns(): Runs {
    const store = this.#store
    const runs = new Runs({
      store,
      trail: new AuditTrail(this.#store),
      log: LOG,
      instance: this.process.instance,
      leaseMs: LEASE_MS,
      crashPoint: passCrashPoint,
      publish: (_host, commit) => commit(),
      clock: this.#clock,
      raiseFences: async () => undefined,
      stepsFor: (carried, held) => this.#stepsFor(carried, held),
    })
    runs.listen(({ mark }, { runId }) => {
      if (mark === 'verdict') this.#cluster.verdicts.add(runId)
    })
    return runs
  }

  async #stepsFor({ plan, run, task, leases }: Carried, held: LeaseGuard): Promise<readonly Step[]> {
    const [cluster, store] = [this.#cluster, this.#store]
    const exposure = await store.findExposure(plan.host)
    const members = run.action === 'renew' ? await store.exposuresOf(run.runId) : []
    const placeAt = (host: string, owner: Exposure | undefined): Place[] => {
      const world = cluster.worlds.get(host)
      const fence = leases.find(({ name }) => name === hostLease(host))?.fence
      return world && fence !== undefined ? [{ host, world, fence, exposure: owner }] : []
    }
    const others = members.filter(({ host }) => host !== plan.host)
    const [first, ...further] = [
      ...placeAt(plan.host, exposure),
      ...others.flatMap((member) => placeAt(member.host, member)),
    ]
    if (!first) throw new Error('The run has no lease on its host.')
    const guard = cluster.removal.guard?.(held) ?? held
    const { now } = cluster.clock
    return stepsOf({ plan, run, task, places: [first, ...further], guard, broken: () => cluster.broken, now })
  }

  #plans(otherDigest: boolean): Plans {
    const store = this.#store
    const findPlan: Store['findPlan'] = async (planId) => {
      const plan = await store.findPlan(planId)
      return plan && { ...plan, digest: otherDigest ? `${plan.digest} changed` : plan.digest }
    }
    return new Plans({ store: { findPlan }, reads: { ...store, findPlan }, now: this.#now })
  }

  #exposer(otherDigest: boolean): Exposer {
    return new Exposer({
      settings: SETTINGS,
      plans: this.#plans(otherDigest),
      assertAdopting: () => undefined,
      store: this.#store,
      trail: new AuditTrail(this.#store),
      admission: ADMISSION,
      runs: this.#runs,
      publish: (_host, commit) => commit(),
      renewals: undefined,
      stepsToRepair: async () => ['proxy', 'dns', 'verify'],
      reportCertificate: () => undefined,
      assertEquipped: () => undefined,
      place: async () => 'here',
      clock: this.#clock,
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
