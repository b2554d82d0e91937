import { AuditTrail } from '../../src/audit/trail.ts'
import { Admission } from '../../src/authorize/admission.ts'
import { CAPABILITY_TTL_SECONDS } from '../../src/authorize/credentials.ts'
import { composeConverge, runParts } from '../../src/compose/runs.ts'
import { ZoneClients } from '../../src/compose/zone-clients.ts'
import type { Config } from '../../src/config/config.ts'
import { Secret } from '../../src/config/secret.ts'
import type { CapabilityAction } from '../../src/model/capability.ts'
import { Problem } from '../../src/model/errors.ts'
import type { PlanSettings } from '../../src/plan/settings.ts'
import type { Converge } from '../../src/runs/converge.ts'
import { EdgeAvailability } from '../../src/runs/edge-availability.ts'
import { EdgePreparation } from '../../src/runs/edge-preparation.ts'
import { sharedDuty } from '../../src/runs/engine/duty.ts'
import type { RunResult } from '../../src/runs/engine/ending.ts'
import { type Resolution, type ResolveParts, resolve } from '../../src/runs/engine/resolve.ts'
import { Runs } from '../../src/runs/engine/runs.ts'
import { raiseFences } from '../../src/runs/fences.ts'
import { housekeeping } from '../../src/runs/housekeeping.ts'
import { startLoops } from '../../src/runs/loops.ts'
import { Renewals } from '../../src/runs/renewal/renewals.ts'
import { assertEquipped } from '../../src/runs/steps/context.ts'
import { stepsFor } from '../../src/runs/steps/steps.ts'
import { stepsOfRepair } from '../../src/runs/steps/subject.ts'
import { createLog } from '../../src/runtime/log.ts'
import { type Store, StoreUnavailable } from '../../src/store/ports/store.ts'
import { Exposer } from '../../src/usecases/exposer.ts'
import { Plans } from '../../src/usecases/plans.ts'
import type { Authority } from './authority.ts'
import type { EdgeMachine } from './edge-machine.ts'
import type { NameServer } from './name-server.ts'
import { Dead, type Process } from './process.ts'
import { type Removal, storeOf } from './stores.ts'

export const ZONE = 'lab.test'
export const KEY = { name: 'world', algorithm: 'hmac-sha256', secret: Buffer.alloc(32, 7).toString('base64') } as const
export const PRIMARY = '23'
export const SECONDARY = '73'
export const BACKEND = 'http://192.0.2.25:3000'

const CALLER = { address: '192.168.45.10', network: 'internal', unconfiguredProxy: false } as const
const SOMEBODY_ELSE = { ...CALLER, address: '192.168.45.11' }
const NO_CREDENTIALS = { capability: undefined, adminToken: undefined }
const ADMISSION = new Admission({ flow: 'capability', adminToken: 'off' }, () => undefined)
const LOG = createLog('silent', [])

const TAKE_OVER_SECONDS = 30

const configOf = (stateDir: string): Config =>
  ({
    stateDir,
    servers: { primary: PRIMARY, secondary: SECONDARY, targets: ['25'], addresses: {} },
    acme: { challenge: 'dns-01' },
    instances: { takeOverSeconds: TAKE_OVER_SECONDS },
    backups: { keepRuns: 20 },
    retention: { planDays: 30, auditDays: 30, eventDays: 30 },
    zones: new Map([
      [
        ZONE,
        {
          name: ZONE,
          primary: { address: '192.0.2.53', port: 53 },
          nameServers: [],
          ttl: 60,
          publish: undefined,
          certificate: 'host',
          registeredDomain: ZONE,
          tsig: { ...KEY, secret: new Secret(KEY.secret) },
          nextTsig: undefined,
        },
      ],
    ]),
  }) as unknown as Config

const SETTINGS: PlanSettings = {
  targets: ['25'],
  addresses: {},
  zones: new Map([[ZONE, { ttl: 60, publish: [] }]]),
  edge: { http: 80, https: 443 },
  ports: { allowed: [], denied: [], deniedOn: {} },
  challenge: 'dns-01',
}

/** What a caller was told. */
export type Answer =
  | { readonly kind: 'succeeded' | 'rolled_back' | 'blocked'; readonly runId: string }
  | { readonly kind: 'refused' | 'unfinished' | 'fault'; readonly reason: string }

/** What a service reaches. */
export interface Surroundings {
  readonly stateDir: string
  readonly store: Store
  readonly edges: readonly EdgeMachine[]
  readonly nameServer: NameServer
  readonly authority: Authority
  readonly removal: Removal
}

/** What a request shows: a capability of its own, or one that was issued for something else. `again`: the last request comes twice. */
export const CREDENTIALS = ['own', 'again', 'otherPlan', 'otherAction', 'otherAddress', 'otherDigest', 'old'] as const
export type CredentialKind = (typeof CREDENTIALS)[number]

/** A request, and the capability that it shows. */
export interface Asked {
  readonly action: Request
  readonly planId: string
  readonly overwrite: boolean
  readonly shows: CredentialKind
  readonly capability: string
}

export type Request = Exclude<CapabilityAction, 'adopt' | 'release' | 'renew'>

/** One process of the service: the real use cases, engine, steps and housekeeping. */
export class Service {
  readonly process: Process
  readonly #store: Store
  readonly #runs: Runs
  readonly #exposer: Exposer
  readonly #converge: Converge
  readonly #housekeeping: ReturnType<typeof housekeeping>
  readonly #trail: AuditTrail
  readonly #stepsToRepair: ResolveParts['stepsToRepair']
  /** Whether this process executes a run. */
  readonly executes: (runId: string) => boolean
  /** Runs with a verdict. */
  readonly decided = new Set<string>()
  /** A plan has changed since its capability was issued. */
  #isPlanChanged = false

  constructor(process: Process, { stateDir, store: shared, edges, nameServer, authority, removal }: Surroundings) {
    const { clock, name: instance } = process
    const config = configOf(stateDir)
    const store = storeOf(process, shared, removal)
    const leaseMs = config.instances.takeOverSeconds * 1000
    const trail = new AuditTrail(store)
    const crashPoint = (point: string) => void process.point(point)
    const clients = new ZoneClients(config, clock, nameServer.transportOf(process))
    const accesses = edges.map((machine) => {
      const edge = { address: machine.address, ports: { http: 80, https: 443 } }
      const environment = { hostPath: async () => null, isOurs: () => false, edge }
      return [machine.server, { edge: machine.edgeOf(process), environment }] as const
    })
    const common = { store, instance, log: LOG, clock }
    const { inventory, advisor } = authority
    const composed = runParts({
      ...{ ...common, config, clients, crashPoint, inventory },
      recheck: async () => undefined,
      ...{ budget: undefined as never, secrets: undefined as never, edges: new Map(accesses) },
    })
    const parts = { ...composed, issuer: authority.issuerOf(process), loadPair: authority.pairOf }
    const runs = new Runs({
      ...{ ...common, trail, leaseMs, crashPoint, publish: (_, commit) => commit() },
      raiseFences: (fences) => raiseFences(parts, fences),
      stepsFor: (carried, guard) => stepsFor(parts, carried, removal.guard?.(guard) ?? guard),
    })
    runs.listen(({ mark }, { runId }) => void (mark === 'verdict' && this.decided.add(runId)))
    this.executes = runs.isUnderWay
    if (removal.recoversOwn) runs.isUnderWay = () => false
    const findPlan: Store['findPlan'] = async (id) => {
      const plan = await store.findPlan(id)
      return plan && this.#isPlanChanged ? { ...plan, digest: `${plan.digest} changed` } : plan
    }
    const plans = new Plans({ store: { findPlan }, reads: { ...store, findPlan }, now: clock.now })
    const availability = new EdgeAvailability({ ...parts, primaryServer: PRIMARY, instance, store, clock })
    this.process = process
    this.#store = store
    this.#runs = runs
    this.#trail = trail
    this.#stepsToRepair = (plan) => stepsOfRepair(parts, plan)
    const retry = { firstMs: 60_000, factor: 2, longestMs: 3_600_000 }
    const renewals = new Renewals({ ...parts, ...common, runs, advisor, retry })
    this.#converge = composeConverge(parts, { ...common, runs })
    this.#exposer = new Exposer({
      ...{ settings: SETTINGS, plans, store, trail, admission: ADMISSION, runs, clock, renewals },
      assertAdopting: () => undefined,
      publish: (_host, commit) => commit(),
      stepsToRepair: this.#stepsToRepair,
      reportCertificate: () => undefined,
      assertEquipped: (zone) => assertEquipped(parts, zone),
      place: () => availability.place(),
    })
    const both = [parts.primary, parts.secondary].filter((edge) => edge !== undefined)
    this.#housekeeping = housekeeping({
      ...{
        ...parts,
        ...common,
        runs,
        availability,
        renewals,
        converge: this.#converge,
        exposer: this.#exposer,
      },
      preparation: new EdgePreparation({ edges: both, primary: PRIMARY, log: LOG, clock }),
      debugLogs: { check: async () => undefined },
      unread: { check: async () => undefined },
      monitor: { checkAll: async () => undefined },
      duty: sharedDuty(store, instance, leaseMs, clock),
      retention: config.retention,
    })
  }

  /** Begins as the program does: prepares, recovers, and does its regular work. */
  async start(): Promise<void> {
    await this.#housekeeping.begin()
    const parts = { housekeeping: this.#housekeeping, trail: this.#trail, log: LOG, clock: this.process.clock }
    startLoops(parts, { takeOverSeconds: TAKE_OVER_SECONDS, renewEverySeconds: 60 })
  }

  async grant(planId: string, action: CapabilityAction): Promise<string> {
    return (await this.#exposer.grant(planId, action, CALLER, NO_CREDENTIALS)).capability
  }

  request({ action, planId, overwrite, shows, capability }: Asked): Promise<Answer> {
    const caller = shows === 'otherAddress' ? SOMEBODY_ELSE : CALLER
    return this.#answered(async () => {
      if (shows === 'old') await this.process.clock.sleep(CAPABILITY_TTL_SECONDS * 1000)
      const credentials = { ...NO_CREDENTIALS, capability }
      this.#isPlanChanged = shows === 'otherDigest'
      const started =
        action === 'repair'
          ? this.#exposer.repair(planId, overwrite, caller, credentials)
          : this.#exposer[action](planId, caller, credentials)
      return (await started.finally(() => (this.#isPlanChanged = false))).result
    })
  }

  resolve(planId: string, by: Resolution): Promise<Answer> {
    const { name: instance, clock } = this.process
    const engine = { store: this.#store, runs: this.#runs, instance, clock, stepsToRepair: this.#stepsToRepair }
    return this.#answered(() => resolve(planId, by, engine))
  }

  perform: ReturnType<typeof housekeeping>['perform'] = (name) => this.#housekeeping.perform(name)

  async #answered(work: () => Promise<RunResult>): Promise<Answer> {
    try {
      const result = await work()
      return { kind: result.outcome.kind, runId: result.run.runId }
    } catch (error) {
      // Whoever waits for a dead process hears nothing.
      if (error instanceof Dead) return new Promise(() => undefined)
      if (error instanceof StoreUnavailable) return { kind: 'unfinished', reason: 'unavailable' }
      if (!(error instanceof Problem)) return { kind: 'fault', reason: String(error) }
      return { kind: 'refused', reason: error.code }
    }
  }
}
