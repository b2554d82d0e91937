import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Change, Plan } from '../../src/model/exposure.ts'
import { markText } from '../../src/model/receipt.ts'
import { stepsToApply, stepsToUpdate } from '../../src/plan/steps.ts'
import { type Exposure, eachExposure } from '../../src/store/ports/exposures.ts'
import type { Store } from '../../src/store/ports/store.ts'
import { EdgeMachine } from './edge-machine.ts'
import { NameServer } from './name-server.ts'
import { Process } from './process.ts'
import { BACKEND, KEY, PRIMARY, SECONDARY, Service, ZONE } from './service.ts'
import { storeFrom, type Template } from './stores.ts'
import { Timeline } from './timeline.ts'

export type InstanceName = 'a' | 'b'
export const HOSTS = ['one', 'two', 'three'] as const
export type HostName = (typeof HOSTS)[number]

export const hostOf = (name: HostName): string => `${name}.${ZONE}`
const PLAN_LIFE_MS = 24 * 3_600_000

/** Two edges, a name server, a store, and the instances of the service that use them. */
export class World {
  readonly timeline: Timeline
  readonly nameServer: NameServer
  readonly primary: EdgeMachine
  readonly secondary: EdgeMachine
  readonly services = new Map<InstanceName, Service>()
  /** Moments at which a name of ours led to an edge that did not serve it. */
  readonly dangling: string[] = []
  readonly #root: string
  readonly #store: Store

  private constructor(root: string, store: Store, timeline: Timeline) {
    this.#root = root
    this.#store = store
    this.timeline = timeline
    this.nameServer = new NameServer(timeline, ZONE, KEY)
    this.primary = new EdgeMachine(this.timeline, root, PRIMARY)
    this.secondary = new EdgeMachine(this.timeline, root, SECONDARY)
    this.nameServer.onChange = () => this.#noteDangling('the name server made an update')
    this.primary.nginx.onLoad = () => this.#noteDangling('nginx loaded a generation')
  }

  static async open({ folder, file, epoch }: Template): Promise<World> {
    const root = join(folder, randomBytes(8).toString('hex'))
    mkdirSync(root)
    const timeline = new Timeline(epoch)
    // Nobody lets time pass while the store is opened.
    const clock = { ...new Process('store', timeline).clock, turn: () => nextTurn() }
    const store = await storeFrom(file, join(root, 'drawbridge.db'), clock)
    return new World(root, store, timeline)
  }

  async close(): Promise<void> {
    for (const { process } of this.services.values()) process.die()
    await this.#store.close()
    rmSync(this.#root, { recursive: true, force: true })
  }

  get store(): Store {
    return this.#store
  }

  /** Starts a process of an instance. The one before is dead. */
  start(name: InstanceName, skewMs = 0): Service {
    this.services.get(name)?.process.die()
    const process = new Process(name, this.timeline)
    process.skewMs = skewMs
    const stateDir = join(this.#root, name)
    mkdirSync(stateDir, { recursive: true })
    const { nameServer } = this
    const service = new Service(process, {
      stateDir,
      nameServer,
      store: this.#store,
      edges: [this.primary, this.secondary],
    })
    this.services.set(name, service)
    void service.start().catch(() => undefined)
    return service
  }

  exposure(name: HostName): Promise<Exposure | undefined> {
    return this.#store.findExposure(hostOf(name))
  }

  exposures(): Promise<Exposure[]> {
    return Array.fromAsync(eachExposure(this.#store))
  }

  /** Stores a plan for a host. It replaces the plan that the host is exposed by. */
  async newPlan(name: HostName, port: number, expiresIn?: number): Promise<string> {
    const former = await this.exposure(name)
    const formerPlan = former && (await this.#store.findPlan(former.planId))
    const plan = planFor(hostOf(name), this.timeline.now(), { port, expiresIn, former: formerPlan })
    await this.#store.insertPlan(plan)
    return plan.planId
  }

  /** A name of ours leads to the Primary, so the Primary has to serve it. */
  #noteDangling(what: string): void {
    const served = this.primary.nginx.served
    const names = new Set(this.nameServer.records.map(({ name }) => name))
    for (const name of names)
      if (names.has(`_drawbridge.${name}`) && !served.has(name)) this.dangling.push(`${name}, when ${what}`)
  }
}

interface Planned {
  readonly port: number
  readonly expiresIn: number | undefined
  readonly former: Plan | undefined
}

function planFor(host: string, at: number, { port, expiresIn, former }: Planned): Plan {
  const id = randomBytes(13).toString('hex')
  const exposureId = former?.exposureId ?? `exposure_${randomBytes(16).toString('hex')}`
  const target = BACKEND.replace(/\d+$/, String(port))
  const create = { kind: 'dns', action: 'create', ttl: 60 } as const
  const served: Change = {
    ...{ kind: 'proxy', action: former ? 'update' : 'create', serverName: host, target, https: false },
  }
  const records: Change[] = [
    { ...create, name: host, type: 'A', value: '192.0.2.23' },
    { ...create, name: `_drawbridge.${host}`, type: 'TXT', value: markText(exposureId) },
  ]
  const changes = former ? [served] : [served, ...records]
  return {
    planId: `plan_${id}`,
    state: 'planned',
    host,
    url: `http://${host}/`,
    request: {
      ...{ zone: ZONE, subdomain: host.replace(`.${ZONE}`, ''), server: '25', port, health: '/', tls: false },
      ...(expiresIn !== undefined && { expiresIn }),
      ...(former && { replaces: former.planId }),
    },
    checks: [],
    changes,
    steps: former ? stepsToUpdate(false) : stepsToApply(false, changes, 'dns-01'),
    digest: id,
    exposureId,
    createdAt: at,
    expiresAt: at + PLAN_LIFE_MS,
    createdBy: '192.168.45.10',
    proof: randomBytes(32).toString('hex'),
  }
}
