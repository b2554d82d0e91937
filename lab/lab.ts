import { stringify } from 'yaml'
import { type Addresses, addressesAt, listenersOf, type Place, USUAL_PLACE } from './addresses.ts'
import type { Daemon } from './daemon.ts'
import { describeLab, type LabDescription } from './description.ts'
import { assertPortFree } from './free-port.ts'
import { assertNothingLeft, recordProcesses } from './left-overs.ts'
import { allOrFirstError, type PartsOptions, type Stoppable, startAcme, startNetwork } from './parts.ts'
import { Service } from './service.ts'
import { type Flow, type ServiceConfig, serviceConfig } from './service-config.ts'
import { prepareState, type StatePaths, secretIn, statePaths, writeFileAtomically } from './state.ts'

export interface LabOptions {
  /** The folder that holds everything. A second start on it finds zones, hosts, secrets and the service's state again. */
  readonly state: string
  readonly place?: Place
  readonly flow?: Flow
  /** False: everything but the service. */
  readonly service?: boolean
  /** Zone-file lines for `lab.test` beside its own, for a state that has no zone yet. */
  readonly records?: readonly string[]
  /** How long Pebble's certificates live. */
  readonly certificateSeconds?: number
  /** Changes the service's configuration before it is written. */
  readonly configure?: (config: ServiceConfig) => ServiceConfig
  /** Told of each part when it stands. */
  readonly onProgress?: (part: string) => void
  /** Told when a part has ended by itself. The lab goes on without it: an edge or a DNS server may fail in life, too. */
  readonly onPartLost?: (sentence: string) => void
  /** How often the service may die within half a minute before it is left alone. */
  readonly deathsAllowed?: number
  /** Told when the service died too often to be started once more. */
  readonly onServiceLost?: (reason: Error) => void
}

export interface Lab {
  readonly state: string
  /** What `STATE/lab.json` holds at this moment. */
  readonly description: LabDescription
  /** Kills the service as an accident would; resolves when the lab has started it again and it answers. */
  killService(signal?: NodeJS.Signals): Promise<void>
  /** Environment variables for the service's next start, and for no later one. */
  giveServiceNextLife(environment: Readonly<Record<string, string>>): void
  /** Resolves when the service has died by itself and the lab has started it again. */
  serviceDeath(): Promise<void>
  /** Stops and starts the service, on another configuration if one is given. */
  restartService(configure?: (config: ServiceConfig) => ServiceConfig): Promise<void>
  /** Stops every process that this lab started, and nothing else. May be called twice. */
  stop(): Promise<void>
}

/** The whole network on loopback. Rejects, with nothing left running, when a part cannot be brought up. */
export async function startLab(options: LabOptions): Promise<Lab> {
  const lab = new LoopbackLab(options)
  try {
    await lab.start()
    return lab
  } catch (error) {
    await lab.stop()
    throw error
  }
}

class LoopbackLab implements Lab {
  readonly #options: LabOptions
  readonly #addresses: Addresses
  readonly #paths: StatePaths
  readonly #service: Service
  readonly #pids = new Map<string, number>()
  readonly #parts: Stoppable[] = []
  /** Until everything stands, `lab.json` is not written: who finds it may use all of it. */
  #isUp = false
  #isStopping = false

  constructor(options: LabOptions) {
    this.#options = options
    this.#addresses = addressesAt(options.place ?? USUAL_PLACE)
    this.#paths = statePaths(options.state)
    this.#service = new Service({
      configFile: this.#paths.config,
      logFile: this.#paths.log,
      listen: this.#addresses.service,
      deathsAllowed: options.deathsAllowed,
      onStart: ({ pid }) => this.#record('service', pid),
      onGiveUp: (reason) => options.onServiceLost?.(reason),
    })
  }

  get state(): string {
    return this.#paths.folder
  }

  get description(): LabDescription {
    return describeLab(this.#addresses, this.#paths, Object.fromEntries(this.#pids))
  }

  async start(): Promise<void> {
    assertNothingLeft(this.#paths.processes, this.#paths.folder)
    for (const { address, port, purpose } of listenersOf(this.#addresses)) await assertPortFree(address, port, purpose)
    prepareState(this.#paths)
    secretIn(this.#paths.adminToken)
    this.#record('lab', process.pid)
    const parts: PartsOptions = {
      addresses: this.#addresses,
      paths: this.#paths,
      records: this.#options.records ?? [],
      certificateSeconds: this.#options.certificateSeconds,
      keep: (name, daemon) => this.#keep(name, daemon),
      keepRelays: (relays) => this.#parts.push(relays),
      onProgress: (part) => this.#options.onProgress?.(part),
    }
    await allOrFirstError([startAcme(parts), this.#startNetworkAndService(parts)])
    this.#isUp = true
    this.#recordPids()
  }

  killService(signal?: NodeJS.Signals): Promise<void> {
    return this.#service.kill(signal)
  }

  giveServiceNextLife(environment: Readonly<Record<string, string>>): void {
    this.#service.giveToNextLife(environment)
  }

  serviceDeath(): Promise<void> {
    return this.#service.death()
  }

  async restartService(configure = this.#options.configure): Promise<void> {
    await this.#service.stop()
    await this.#startService(configure)
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#service.stop()
    await Promise.all(this.#parts.map((part) => part.stop()))
    if (this.#pids.size === 0) return
    this.#pids.clear()
    this.#recordPids()
  }

  async #startNetworkAndService(parts: PartsOptions): Promise<void> {
    await startNetwork(parts)
    if (this.#options.service !== false) await this.#startService(this.#options.configure)
  }

  async #startService(configure: LabOptions['configure'] = (config) => config): Promise<void> {
    const config = serviceConfig(this.#addresses, this.#paths, this.#options.flow ?? 'capability')
    writeFileAtomically(this.#paths.config, stringify(configure(config)), 0o600)
    await this.#service.start()
    this.#options.onProgress?.('the service')
  }

  #keep(name: string, daemon: Daemon): void {
    this.#parts.push(daemon)
    this.#record(name, daemon.pid)
    void daemon.exited.then(() => {
      if (this.#isStopping) return
      this.#pids.delete(name)
      this.#recordPids()
      this.#options.onPartLost?.(`${daemon.name} (pid ${daemon.pid}) has ended. Its last words: ${daemon.lastWords()}`)
    })
  }

  #record(name: string, pid: number): void {
    this.#pids.set(name, pid)
    this.#recordPids()
  }

  #recordPids(): void {
    recordProcesses(this.#paths.processes, Object.fromEntries(this.#pids))
    if (!this.#isUp) return
    writeFileAtomically(this.#paths.description, `${JSON.stringify(this.description, null, 2)}\n`, 0o644)
  }
}
