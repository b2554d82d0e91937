import { stringify } from 'yaml'
import { type Addresses, addressesAt, DEFAULT_PLACE, listenersOf, type Place } from './addresses.ts'
import type { Daemon } from './daemon.ts'
import { describeLab, type LabDescription } from './description.ts'
import { assertPortFree } from './free-port.ts'
import { assertNothingLeft, recordProcesses } from './left-overs.ts'
import { allOrFirstError, type PartsOptions, type Stoppable, startAcme, started, startNetwork } from './parts.ts'
import { Service } from './service.ts'
import { type Flow, type ServiceConfig, serviceConfig } from './service-config.ts'
import { prepareState, type StatePaths, secretIn, statePaths, writeFileAtomically } from './state.ts'

export interface LabOptions {
  /** The folder of all files. A second start on it keeps zones, hosts, secrets and the state of the service. */
  readonly state: string
  readonly place?: Place
  readonly flow?: Flow
  /** False: start everything except the service, whose configuration is written. */
  readonly service?: boolean
  /** More zone-file lines for `lab.test`. Used only when the state folder has no zone yet. */
  readonly records?: readonly string[]
  /** The lifetime of Pebble's certificates. */
  readonly certificateSeconds?: number
  /** Changes the service's configuration before it is written. */
  readonly configure?: (config: ServiceConfig) => ServiceConfig
  /** Called with each part when it is ready. */
  readonly onProgress?: (part: string) => void
  /** Called when a part exits unexpectedly. The lab continues without it: an edge or a DNS server can fail in production, too. */
  readonly onPartLost?: (sentence: string) => void
  /** How often the service may die within 30 s before the lab stops restarting it. */
  readonly deathsAllowed?: number
  /** Called when the service died too often and is not restarted. */
  readonly onServiceLost?: (reason: Error) => void
}

export interface Lab {
  readonly state: string
  /** The current content of `STATE/lab.json`. */
  readonly description: LabDescription
  /** Kills the service. Resolves when the lab has restarted it and it answers. */
  killService(signal?: NodeJS.Signals): Promise<void>
  /** Sets environment variables for the next start of the service only. */
  setNextServiceEnvironment(environment: Readonly<Record<string, string>>): void
  /** Resolves when the service has died and the lab has restarted it. */
  serviceRestarted(): Promise<void>
  /** Restarts the service, with a changed configuration if `configure` is given. */
  restartService(configure?: (config: ServiceConfig) => ServiceConfig): Promise<void>
  /** Stops the service. It is not started again until `restartService`. */
  stopService(): Promise<void>
  /** Stops every process that this lab started. May be called twice. */
  stop(): Promise<void>
}

/** Starts the whole network on loopback. When a part fails to start, stops all others and rejects. */
export const startLab = (options: LabOptions): Promise<Lab> => started(new LoopbackLab(options))

class LoopbackLab implements Lab {
  readonly #options: LabOptions
  readonly #addresses: Addresses
  readonly #paths: StatePaths
  readonly #service: Service
  readonly #pids = new Map<string, number>()
  readonly #parts: Stoppable[] = []
  /** `lab.json` is written only when everything runs, so its readers can use all parts. */
  #isUp = false
  #isStopping = false

  constructor(options: LabOptions) {
    this.#options = options
    this.#addresses = addressesAt(options.place ?? DEFAULT_PLACE)
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
      track: (name, daemon) => this.#track(name, daemon),
      trackRelays: (relays) => this.#parts.push(relays),
      onProgress: (part) => this.#options.onProgress?.(part),
    }
    await allOrFirstError([startAcme(parts), this.#startNetworkAndService(parts)])
    this.#isUp = true
    this.#recordPids()
  }

  killService(signal?: NodeJS.Signals): Promise<void> {
    return this.#service.kill(signal)
  }

  setNextServiceEnvironment(environment: Readonly<Record<string, string>>): void {
    this.#service.setNextEnvironment(environment)
  }

  serviceRestarted(): Promise<void> {
    return this.#service.restarted()
  }

  async restartService(configure = this.#options.configure): Promise<void> {
    await this.#service.stop()
    this.#writeConfig(configure)
    await this.#startService()
  }

  stopService(): Promise<void> {
    return this.#service.stop()
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
    this.#writeConfig(this.#options.configure)
    if (this.#options.service !== false) await this.#startService()
  }

  #writeConfig(configure: LabOptions['configure'] = (config) => config): void {
    const config = serviceConfig(this.#addresses, this.#paths, this.#options.flow ?? 'capability')
    writeFileAtomically(this.#paths.config, stringify(configure(config)), 0o600)
  }

  async #startService(): Promise<void> {
    await this.#service.start()
    this.#options.onProgress?.('the service')
  }

  #track(name: string, daemon: Daemon): void {
    this.#parts.push(daemon)
    this.#record(name, daemon.pid)
    void daemon.exited.then(() => {
      if (this.#isStopping) return
      this.#pids.delete(name)
      this.#recordPids()
      this.#options.onPartLost?.(
        `${daemon.name} (pid ${daemon.pid}) exited unexpectedly. Its last output: ${daemon.lastOutput()}`,
      )
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
