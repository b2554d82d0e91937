import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkout } from '../lab/checkout.ts'
import { enrollAgent } from '../lab/enrolment.ts'
import { allOrFirstError, started } from '../lab/parts.ts'
import { findProgram, isRoot } from '../lab/program.ts'
import { runUntilEnd } from '../lab/run.ts'
import { writeFileAtomically } from '../lab/state.ts'
import { systemClock } from '../src/primitives/clock.ts'
import { poll } from '../src/primitives/retry.ts'
import { shareStoreKey, writeAgentConfig, writeServiceConfig } from './configs.ts'
import { Control } from './control.ts'
import { configFile, describeNetwork, type NetworkDescription } from './description.ts'
import { type Happening, Machine } from './machine.ts'
import { Namespaces } from './namespaces.ts'
import type { Environment } from './parts.ts'
import { agentConfigFile, agentFolder, type Paths, pathsIn, prepareFolders } from './paths.ts'
import { type AGENTS, type INSTANCES, MACHINE_IDS, MACHINES, type MachineId, SERVICE_USER } from './plan.ts'
import { asUser } from './users.ts'

export interface NetworkOptions {
  /** The folder of all files. A second start on it keeps zones, hosts, secrets, certificates and the database. */
  readonly state: string
  /** The beginning of the names of the namespaces. Networks with different ones run side by side. */
  readonly prefix?: string
  /** Called with each part when it is ready. */
  readonly onProgress?: (part: string) => void
  /** Called when a part ends or is given up. The network continues. */
  readonly onPartLost?: (sentence: string) => void
}

export interface Network {
  readonly state: string
  /** The current content of `STATE/network.json`. */
  readonly description: NetworkDescription
  startPart(machine: MachineId, part: string, environment?: Environment): Promise<void>
  stopPart(machine: MachineId, part: string): Promise<void>
  /** Stops every process that this network started and removes its namespaces. May be called twice. */
  stop(): Promise<void>
}

/** Runs a network until a signal ends it. Rejects when it cannot start. */
export const runNetwork = (options: Pick<NetworkOptions, 'state' | 'prefix'>): Promise<void> =>
  runUntilEnd({
    start: ({ onProgress, onPartLost }) => startNetwork({ ...options, onProgress, onPartLost }),
    readyText: (network) => `Drawbridge network ready: ${join(network.state, 'network.json')}`,
    endText: 'All processes of the network are stopped and its namespaces are removed.',
  })

/** Builds the network of the specification and starts everything. When a part fails to start, removes all and rejects. */
async function startNetwork(options: NetworkOptions): Promise<Network> {
  if (!isRoot()) throw new Error('The network is made of namespaces, which only root may create. Run it as root.')
  return started(new NamespaceNetwork(options))
}

class NamespaceNetwork implements Network {
  readonly #options: NetworkOptions
  readonly #paths: Paths
  readonly #namespaces: Namespaces
  readonly #machines = new Map<MachineId, Machine>()
  readonly #pids = new Map<MachineId, Record<string, number>>()
  #control: Control | undefined
  /** The namespaces are this network's own. */
  #isBuilt = false
  #isUp = false
  #isStopping = false

  constructor(options: NetworkOptions) {
    this.#options = options
    this.#paths = pathsIn(options.state)
    this.#namespaces = new Namespaces(options.prefix ?? 'drawbridge')
  }

  get state(): string {
    return this.#paths.folder
  }

  get description(): NetworkDescription {
    return describeNetwork(
      this.#paths,
      (machine) => this.#namespaces.path(machine),
      (machine) => this.#pids.get(machine) ?? {},
    )
  }

  async start(): Promise<void> {
    assertReadable(join(checkout(), 'dist', 'service', 'command-line.js'))
    this.#namespaces.assertNoneInUse()
    this.#isBuilt = true
    this.#namespaces.build()
    prepareFolders(this.#paths)
    rmSync(this.#paths.description, { force: true })
    this.#options.onProgress?.('namespaces, switches and a router')
    await allOrFirstError(MACHINE_IDS.filter((id) => MACHINES[id].parts.length > 0).map((id) => this.#boot(id)))
    await allOrFirstError([
      this.#startAll(['23', 'postgres']),
      this.#startAll(['23', 'named'], ['73', 'named']),
      this.#startAll(['23', 'nginx']),
      this.#startAll(['73', 'nginx']),
      this.#startAll(['25', 'backend'], ['253', 'backend']),
      this.#startAll(['ca', 'pebble']),
    ])
    for (const machine of ['23', '73'] as const) writeAgentConfig(this.#paths, machine)
    for (const machine of ['23', '25'] as const) writeServiceConfig(this.#paths, machine)
    await allOrFirstError([this.#startAll(['23', 'edge']), this.#startAll(['73', 'edge'])])
    // It prepares the store for the commands of an administrator.
    await this.#startAll(['23', 'service'])
    shareStoreKey(this.#paths)
    await allOrFirstError([this.#enroll('73', '23'), this.#enroll('23', '25')])
    await this.#startAll(['25', 'service'])
    await this.#inStep()
    this.#control = await Control.listen(this.#paths.control, this)
    this.#isUp = true
    this.#describe()
  }

  startPart(machine: MachineId, part: string, environment: Environment = {}): Promise<void> {
    return this.#machine(machine).startPart(part, environment)
  }

  stopPart(machine: MachineId, part: string): Promise<void> {
    return this.#machine(machine).stopPart(part)
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#control?.close()
    // First those that use the others: they would wait for a database or an edge that is gone.
    await this.#stopEverywhere('service')
    await this.#stopEverywhere('edge')
    const mounts = [...this.#machines.values()].map(({ pid }) => mountNamespace(pid))
    await Promise.all([...this.#machines.values()].map((machine) => machine.end()))
    endProcessesIn(new Set(mounts.filter((mount) => mount !== undefined)))
    if (!this.#isBuilt) return
    this.#namespaces.remove()
    rmSync(this.#paths.description, { force: true })
  }

  async #stopEverywhere(part: string): Promise<void> {
    const machines = [...this.#machines].filter(([id]) => MACHINES[id].parts.includes(part))
    await Promise.all(machines.map(([, machine]) => machine.stopPart(part).catch(() => undefined)))
  }

  async #boot(id: MachineId): Promise<void> {
    const onHappening = (happening: Happening) => this.#hear(id, happening)
    this.#machines.set(id, await Machine.start(id, this.#namespaces.path(id), this.#paths, onHappening))
  }

  /** One after the other. */
  async #startAll(...parts: readonly (readonly [MachineId, string])[]): Promise<void> {
    for (const [machine, part] of parts) {
      await this.startPart(machine, part)
      this.#options.onProgress?.(`${part} on ${machine}`)
    }
  }

  /** Lets the agent of a server join with a code of an instance on another machine, unless it has a certificate already. */
  async #enroll(server: keyof typeof AGENTS, instance: keyof typeof INSTANCES): Promise<void> {
    if (existsSync(join(agentFolder(this.#paths, server), 'agent.crt'))) return
    await enrollAgent(
      server,
      {
        config: configFile(this.#paths, instance),
        on: (command) => this.#machine(instance).command(asUser(SERVICE_USER.id, SERVICE_USER.id, command)),
      },
      { config: agentConfigFile(this.#paths, server), on: (command) => this.#machine(server).command(command) },
    )
    this.#options.onProgress?.(`a certificate for the agent on ${server}`)
  }

  /** Waits until no instance knows of an edge that is out of step: just after the enrolment that of 73 is. */
  async #inStep(): Promise<void> {
    const asked = this.description.machines['10'].namespace
    for (const api of Object.values(this.description.api))
      await poll(
        () => edgesOutOfStep(asked, api),
        (servers) => servers.length === 0,
        { firstMs: 100, withinMs: 60_000, clock: systemClock },
      )
    this.#options.onProgress?.('both edges in step')
  }

  #machine(id: MachineId): Machine {
    const machine = this.#machines.get(id)
    if (!machine) throw new Error(`${id} is not a machine with parts.`)
    return machine
  }

  #hear(machine: MachineId, happening: Happening): void {
    const { [happening.part]: known, ...others } = this.#pids.get(machine) ?? {}
    if (happening.kind === 'up') this.#pids.set(machine, { ...others, [happening.part]: happening.pid })
    if (happening.kind === 'down' && known === happening.pid) this.#pids.set(machine, others)
    this.#describe()
    if (this.#isStopping || happening.kind === 'up') return
    const sentence =
      happening.kind === 'gave-up'
        ? happening.sentence
        : `${happening.part} on ${machine} (pid ${happening.pid}) ended. Its last output: ${happening.lastOutput}`
    this.#options.onPartLost?.(sentence)
  }

  #describe(): void {
    if (!this.#isUp || this.#isStopping) return
    writeFileAtomically(this.#paths.description, `${JSON.stringify(this.description, null, 2)}\n`, 0o644)
  }
}

/** The servers whose edges an instance calls out of step, when it is asked from a machine. */
async function edgesOutOfStep(namespace: string, api: string): Promise<readonly string[]> {
  const curl = [findProgram('curl', 'curl'), '-sS', '--max-time', '5', `${api}/api/hosts`]
  const { stdout } = await promisify(execFile)(findProgram('nsenter', 'util-linux'), [`--net=${namespace}`, ...curl])
  const { edges } = JSON.parse(stdout) as { edges: readonly { server: string; inStep: boolean }[] }
  return edges.filter(({ inStep }) => !inStep).map(({ server }) => server)
}

/** The service runs as a user of its own. */
function assertReadable(file: string): void {
  if ((statSync(file).mode & 0o004) !== 0) return
  throw new Error(`${file} can be read by its owner alone. Run \`chmod -R go+rX ${checkout()}\`, and start again.`)
}

function mountNamespace(pid: number | string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`)
  } catch {
    return undefined
  }
}

/** Ends what is left on the machines: a part that was killed can leave children. */
function endProcessesIn(mounts: ReadonlySet<string>): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const mount = mountNamespace(pid)
    if (mount !== undefined && mounts.has(mount)) process.kill(Number(pid), 'SIGKILL')
  }
}
