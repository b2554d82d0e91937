import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Change, Plan } from '../../src/model/exposure.ts'
import { markText } from '../../src/model/receipt.ts'
import { stepsToApply, stepsToUpdate } from '../../src/plan/steps.ts'
import type { Clock } from '../../src/primitives/clock.ts'
import { type Exposure, eachExposure } from '../../src/store/ports/exposures.ts'
import type { Store } from '../../src/store/ports/store.ts'
import { Authority } from './authority.ts'
import { EdgeMachine } from './edge-machine.ts'
import { NameServer } from './name-server.ts'
import { Process } from './process.ts'
import { BACKEND, KEY, PRIMARY, type Request, SECONDARY, Service, ZONE } from './service.ts'
import { type Copy, copyOf, openAt, type Removal, restoredStore, storeFrom, type Template } from './stores.ts'
import { Timeline } from './timeline.ts'

export type InstanceName = 'a' | 'b'
export const HOSTS = ['one', 'two', 'three'] as const
export type HostName = (typeof HOSTS)[number]

export const hostOf = (name: HostName): string => `${name}.${ZONE}`
export const nameOf = (host: string): HostName => HOSTS.find((name) => hostOf(name) === host) ?? 'one'
const PLAN_LIFE_MS = 24 * 3_600_000

/** What is known of hosts when a backup is restored. */
export interface Restored {
  readonly stood: Readonly<Record<string, readonly string[]>>
  /** Hosts that no run has changed since the backup. */
  readonly unchanged: ReadonlySet<HostName>
  /** Hosts that somebody has asked for since. */
  readonly asked: Set<HostName>
  /** Blocked hosts that a person has decided about since. */
  readonly decided: Set<HostName>
  /** The Secondary was away, and the former store goes on. */
  readonly isFormerOnSecondary: boolean
}

/** Two edges, a name server, a store, and the instances of the service that use them. */
export class World {
  readonly timeline: Timeline
  readonly nameServer: NameServer
  readonly primary: EdgeMachine
  readonly secondary: EdgeMachine
  readonly authority: Authority
  readonly services = new Map<InstanceName, Service>()
  /** Moments at which a name of ours led to an edge that did not serve it. */
  readonly dangling: string[] = []
  /** Names that were gone from DNS after a restore although nobody had asked the restored store. */
  readonly gone: string[] = []
  /** By edge and host: the backend that somebody gave it by hand. */
  readonly edits = new Map<string, string>()
  /** A copy of the store, as a backup holds it. */
  backup: Copy | undefined
  /** Set when a copy was restored: what stood then, and which hosts were asked for since. */
  restored: Restored | undefined
  readonly #root: string
  readonly #stores: Store[]
  readonly #clock: Clock
  readonly #former: Service[] = []
  readonly #removal: Removal
  /** Every process that was started on the newest store. */
  readonly processes: Service[] = []
  /** Runs that were taken over although a process that was never stopped executes them. */
  readonly robbed: string[] = []
  readonly planIds: string[] = []

  private constructor(root: string, store: Store, timeline: Timeline, clock: Clock, { removal, pairs }: Made) {
    this.#root = root
    this.#removal = removal
    this.#stores = [store]
    this.#clock = clock
    this.timeline = timeline
    this.nameServer = new NameServer(timeline, ZONE, KEY)
    this.primary = new EdgeMachine(this.timeline, root, PRIMARY)
    this.secondary = new EdgeMachine(this.timeline, root, SECONDARY)
    this.authority = new Authority(timeline, pairs)
    for (const { nginx } of [this.primary, this.secondary])
      nginx.shown = (id, host) => this.authority.handshake(id, host)
    this.nameServer.onChange = () => {
      this.#noteDangling('the name server made an update')
      this.#noteGone()
    }
    this.primary.nginx.onLoad = () => this.#noteDangling('nginx loaded a generation')
  }

  static async open({ folder, file, epoch, pairs }: Template, removal: Removal = {}): Promise<World> {
    const root = join(folder, randomBytes(8).toString('hex'))
    mkdirSync(root)
    const timeline = new Timeline(epoch)
    // Nobody lets time pass while the store is opened.
    const clock = { ...new Process('store', timeline).clock, turn: () => nextTurn() }
    const store = await storeFrom(file, join(root, '1.db'), clock)
    return new World(root, store, timeline, clock, { removal, pairs })
  }

  async close(): Promise<void> {
    for (const { process } of this.services.values()) process.die()
    for (const { process } of this.#former) process.die()
    for (const store of this.#stores) await store.close()
    rmSync(this.#root, { recursive: true, force: true })
  }

  /** The newest one. */
  get store(): Store {
    const store = this.#stores.at(-1)
    if (!store) throw new Error('The world has no store.')
    return store
  }

  /** Of a store that was not restored itself. */
  async makeBackup(): Promise<void> {
    if (!this.restored) this.backup = await copyOf(this.#file)
  }

  /** Restores the backup into a new store. `keepsFormer`: the processes on the former store go on. */
  async restore(keepsFormer: boolean): Promise<void> {
    const { backup, primary, secondary, timeline } = this
    if (!backup) return
    const stood = Object.fromEntries(HOSTS.map((name) => [name, this.#standing(hostOf(name))]))
    const newest = await this.#newestRuns()
    for (const service of this.services.values())
      if (keepsFormer) this.#former.push(service)
      else service.process.die()
    this.services.clear()
    this.processes.splice(0)
    const file = join(this.#root, `${this.#stores.length + 1}.db`)
    await restoredStore(backup, file, timeline.now(), [primary.folder, secondary.folder])
    this.#stores.push(await openAt(file, this.#clock))
    const known = await this.#newestRuns()
    const unchanged = new Set(HOSTS.filter((name) => known.get(name) === newest.get(name)))
    const isFormerOnSecondary = keepsFormer && this.secondary.isAway
    this.restored = { stood, unchanged, asked: new Set(), decided: new Set(), isFormerOnSecondary }
    this.backup = undefined
    this.dangling.splice(0)
  }

  /** By host: its newest run, and how far that has come. */
  async #newestRuns(): Promise<ReadonlyMap<HostName, string | undefined>> {
    const newest = async (name: HostName) => {
      const run = (await this.store.runsOfHost(hostOf(name))).at(-1)
      return [name, run && `${run.runId} ${run.state} ${run.fence}`] as const
    }
    return new Map(await Promise.all(HOSTS.map(newest)))
  }

  get #file(): string {
    return join(this.#root, `${this.#stores.length}.db`)
  }

  /** Where a host is on the air, and with what. */
  standing = (name: HostName): readonly string[] => this.#standing(hostOf(name))

  #standing(host: string): readonly string[] {
    const records = this.nameServer.records.filter(({ name }) => name === host || name === `_drawbridge.${host}`)
    return [
      ...records.map(({ type, value }) => `${type} ${value}`).toSorted(),
      ...[this.primary, this.secondary].map(({ server, nginx }) => `${server}: ${nginx.served.get(host)?.target}`),
    ]
  }

  /** Starts a process of an instance. The one before is dead. */
  start(name: InstanceName, skewMs = 0): Service {
    this.services.get(name)?.process.die()
    const process = new Process(name, this.timeline)
    process.skewMs = skewMs
    const stateDir = join(this.#root, `${this.#stores.length}-${name}`)
    mkdirSync(stateDir, { recursive: true })
    const { nameServer, authority } = this
    const service = new Service(process, {
      stateDir,
      nameServer,
      authority,
      store: this.#noting(this.store),
      edges: [this.primary, this.secondary],
      removal: this.#removal,
    })
    this.services.set(name, service)
    this.processes.push(service)
    void service.start().catch(() => undefined)
    return service
  }

  #noting(store: Store): Store {
    const adoptRun: Store['adoptRun'] = async (run, holder, fence) => {
      const isAdopted = await store.adoptRun(run, holder, fence)
      const living = [...this.services.values()].filter(({ process }) => process.isAwake && !process.wasPaused)
      if (isAdopted && living.some((service) => service.executes(run.runId))) this.robbed.push(run.runId)
      return isAdopted
    }
    return { ...store, adoptRun }
  }

  /** A plan of another host. */
  async otherPlan(planId: string): Promise<string> {
    const plan = await this.store.findPlan(planId)
    return this.newPlan(HOSTS.find((name) => hostOf(name) !== plan?.host) ?? 'one', 3_999)
  }

  /** Somebody asks a process on the former store to change a host that this store has. */
  async askFormer(action: FormerRequest, name: HostName): Promise<void> {
    const service = this.#former.findLast(({ process }) => process.isAwake)
    const exposure = await this.#stores.at(-2)?.findExposure(hostOf(name))
    if (!service || !exposure) return
    const { planId } = exposure
    const granted = service.grant(planId, action)
    const wish = { action, planId, overwrite: false, shows: 'own' } as const
    void granted.then((capability) => service.request({ ...wish, capability })).catch(() => undefined)
  }

  exposure(name: HostName): Promise<Exposure | undefined> {
    return this.store.findExposure(hostOf(name))
  }

  exposures(): Promise<Exposure[]> {
    return Array.fromAsync(eachExposure(this.store))
  }

  /** Stores a plan for a host. It replaces the plan that the host is exposed by. */
  async newPlan(name: HostName, port: number, wish: Wish = {}): Promise<string> {
    const former = await this.exposure(name)
    const formerPlan = former && (await this.store.findPlan(former.planId))
    const plan = planFor(hostOf(name), this.timeline.now(), { port, ...wish, former: formerPlan })
    await this.store.insertPlan(plan)
    this.planIds.push(plan.planId)
    return plan.planId
  }

  /** Whether an edit of somebody stands on an edge, told of or not: whoever asked to overwrite it may have crashed before. */
  isEdited(host: string): boolean {
    return [this.primary, this.secondary].some(({ present }) => present.find(host)?.isEdited)
  }

  forgetEdits(name: HostName): void {
    for (const key of this.edits.keys()) if (key.endsWith(` ${name}`)) this.edits.delete(key)
  }

  /** A name of ours leads to the Primary, so the Primary has to serve it. */
  #noteDangling(what: string): void {
    const served = this.primary.nginx.served
    const names = new Set(this.nameServer.records.map(({ name }) => name))
    for (const name of names)
      if (names.has(`_drawbridge.${name}`) && !served.has(name)) this.dangling.push(`${name}, when ${what}`)
  }

  /** A restored store takes no name from DNS by itself, and a former one cannot. */
  #noteGone(): void {
    if (!this.restored) return
    const { stood, asked, decided } = this.restored
    for (const name of HOSTS)
      if (!asked.has(name) && !decided.has(name) && isNamed(stood[name]) && !isNamed(this.standing(name)))
        this.gone.push(hostOf(name))
  }
}

type Made = Pick<Template, 'pairs'> & { readonly removal: Removal }
export type FormerRequest = Exclude<Request, 'apply'>

type Wish = Pick<Plan['request'], 'expiresIn'> & { readonly tls?: boolean | undefined }

interface Planned extends Wish {
  readonly port: number
  readonly former: Plan | undefined
}

function planFor(host: string, at: number, { port, expiresIn, tls = false, former }: Planned): Plan {
  const id = randomBytes(13).toString('hex')
  const exposureId = former?.exposureId ?? `exposure_${randomBytes(16).toString('hex')}`
  const target = BACKEND.replace(/\d+$/, String(port))
  const create = { kind: 'dns', action: 'create', ttl: 60 } as const
  const served: Change = {
    ...{ kind: 'proxy', action: former ? 'update' : 'create', serverName: host, target, https: tls },
  }
  const records: Change[] = [
    { ...create, name: host, type: 'A', value: '192.0.2.23' },
    { ...create, name: `_drawbridge.${host}`, type: 'TXT', value: markText(exposureId) },
  ]
  const secured: Change[] = tls ? [{ kind: 'certificate', action: 'reuse', names: [host] }] : []
  const changes = [...secured, served, ...(former ? [] : records)]
  return {
    planId: `plan_${id}`,
    state: 'planned',
    host,
    url: `${tls ? 'https' : 'http'}://${host}/`,
    request: {
      ...{ zone: ZONE, subdomain: host.replace(`.${ZONE}`, ''), server: '25', port, health: '/', tls },
      ...(expiresIn !== undefined && { expiresIn }),
      ...(former && { replaces: former.planId }),
    },
    checks: [],
    changes,
    steps: former ? stepsToUpdate(tls) : stepsToApply(tls, changes, 'dns-01'),
    digest: id,
    exposureId,
    createdAt: at,
    expiresAt: at + PLAN_LIFE_MS,
    createdBy: '192.168.45.10',
    network: 'internal',
    proof: randomBytes(32).toString('hex'),
  }
}

const isNamed = (standing: readonly string[] = []): boolean => standing.some((line) => line.startsWith('A '))
