import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Command } from '../../../lab/enrolment.ts'
import { askNetwork } from '../../../network/control.ts'
import type { NetworkDescription } from '../../../network/description.ts'
import { pathsIn } from '../../../network/paths.ts'
import { type MachineId, SERVICE_USER } from '../../../network/plan.ts'
import { asUser } from '../../../network/users.ts'
import type { Load } from '../backends/load.ts'
import type { Answer, Call } from '../http/call.ts'
import type { CalledService } from '../lab/exposure.ts'
import type { Allowances } from '../lab/invariants.ts'
import { type TempFolder, tempFolder } from '../temp-folder.ts'
import { until } from '../until.ts'
import { Caller } from './caller.ts'

const READY_WITHIN_MS = 150_000

/** A process of `npm run network`. */
interface NetworkProgram {
  readonly process: ChildProcess
  /** What it printed on both outputs so far. */
  readonly printed: () => string
}

/** Starts a network as `npm run network` does, with namespaces of other names. */
export function runNetworkProgram(options: { readonly state: string; readonly prefix: string }): NetworkProgram {
  const program = `import { runNetwork } from './network/network.ts'; await runNetwork(${JSON.stringify(options)})`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const output of [child.stdout, child.stderr])
    output.on('data', (text) => {
      printed += text
    })
  return { process: child, printed: () => printed }
}

/** The network of the specification, from outside: by its description, its namespaces and its commands. */
export class TestNetwork {
  readonly prefix = `drawbridge-test-${process.pid}`
  readonly state: string
  readonly program: NetworkProgram
  readonly #folder: TempFolder
  readonly #callers = new Map<MachineId, Caller>()

  private constructor(folder: TempFolder) {
    this.#folder = folder
    // Only root may enter it, as in a home folder: the users of the machines must get at their files all the same.
    chmodSync(folder.path, 0o700)
    this.state = join(folder.path, 'network')
    this.program = runNetworkProgram(this)
  }

  static async start(): Promise<TestNetwork> {
    const network = new TestNetwork(tempFolder())
    const { process: runner, printed } = network.program
    const readyLine = `Drawbridge network ready: ${network.state}/network.json\n`
    try {
      await until(
        'the network is ready',
        () => printed().includes(readyLine) || runner.exitCode !== null,
        READY_WITHIN_MS,
      )
      if (runner.exitCode !== null) throw new Error(`The network ended: ${printed()}`)
      return network
    } catch (error) {
      await network.stop()
      throw error
    }
  }

  get description(): NetworkDescription {
    return JSON.parse(readFileSync(join(this.state, 'network.json'), 'utf8'))
  }

  /** An instance of the service as a machine reaches it. */
  as(machine: MachineId, instance: '23' | '25' = '23'): CalledService {
    const { zone, api, machines } = this.description
    return {
      description: { zone },
      call: (request: Omit<Call, 'from'>): Promise<Answer> =>
        this.#callerOn(machine).ask('call', api[instance], { ...request, from: machines[machine].address }),
    }
  }

  /** The status of a host over HTTPS through an edge, for a visitor on a machine, or why there is no answer. */
  visit(machine: MachineId, edge: '23' | '73', host: string): Promise<number | string> {
    const { edges, acme } = this.description
    const visit = { host, path: '/healthz', ca: readFileSync(acme.ca, 'utf8') }
    return this.#callerOn(machine)
      .ask('visit', edges[edge], visit)
      .then(
        ({ status }) => status,
        ({ message }: Error) => message,
      )
  }

  /** The addresses that a name server tells a machine. Undefined: no answer. */
  addresses(machine: MachineId, server: '23' | '73', name: string): Promise<string[] | undefined> {
    const { primary, secondary } = this.description.dns
    return this.#callerOn(machine).ask('addresses', server === '23' ? primary : secondary, name)
  }

  cutCable(machine: MachineId): void {
    this.#ip(machine, 'link', 'set', this.description.machines[machine].interface, 'down')
  }

  mendCable(machine: MachineId): void {
    const { address, interface: cable } = this.description.machines[machine]
    this.#ip(machine, 'link', 'set', cable, 'up')
    this.#ip(machine, 'route', 'replace', 'default', 'via', address.replace(/\d+$/, '1'))
  }

  /** Cuts the cable of a machine during `work`, and mends it. */
  async withoutCable<T>(machine: MachineId, work: () => Promise<T>): Promise<T> {
    this.cutCable(machine)
    return work().finally(() => this.mendCable(machine))
  }

  startPart(machine: MachineId, part: string, environment: Readonly<Record<string, string>> = {}): Promise<void> {
    return askNetwork(pathsIn(this.state).control, { action: 'start', machine, part, environment })
  }

  stopPart(machine: MachineId, part: string): Promise<void> {
    return askNetwork(pathsIn(this.state).control, { action: 'stop', machine, part })
  }

  /** Stops a part and starts it with environment variables for this start only. */
  async restartPart(machine: MachineId, part: string, environment: Readonly<Record<string, string>>): Promise<void> {
    await this.stopPart(machine, part)
    await this.startPart(machine, part, environment)
  }

  pidOf(machine: MachineId, part: string): number | undefined {
    return this.description.machines[machine].pids[part]
  }

  /** Resolves when another process than this one runs as the part. */
  replaced(machine: MachineId, part: string, pid: number): Promise<void> {
    const isAnother = () => ![undefined, pid].includes(this.pidOf(machine, part))
    return until(`${part} on ${machine} was started again`, isAnother)
  }

  /** The command that runs a program on a machine, as the user of the service or as root. */
  commandOn(machine: '23' | '73' | '25', user: 'drawbridge' | 'root', ...command: string[]): Command {
    const pid = Object.values(this.description.machines[machine].pids)[0]
    const inside = { program: command[0] ?? '', args: command.slice(1) }
    const { program, args } = user === 'root' ? inside : asUser(SERVICE_USER.id, SERVICE_USER.id, inside)
    return { program: 'nsenter', args: [`--target=${pid}`, '--net', '--mount', '--', program, ...args] }
  }

  /** Resolves with the output of the program, and rejects if it fails. */
  async runOn(...command: Parameters<TestNetwork['commandOn']>): Promise<string> {
    const { program, args } = this.commandOn(...command)
    return (await promisify(execFile)(program, args)).stdout
  }

  /** Visitors on a machine ask for a host over HTTPS all the time. */
  beginVisits(machine: MachineId, edge: '23' | '73', host: string): Promise<void> {
    return this.#callerOn(machine).ask('beginVisits', this.description.edges[edge], host)
  }

  endVisits(machine: MachineId): ReturnType<Load['stop']> {
    return this.#callerOn(machine).ask('endVisits')
  }

  /** Rejects with every invariant that is violated. */
  judge(allowances: Allowances = {}): Promise<void> {
    return this.#callerOn('23').ask('judge', this.state, allowances)
  }

  /** What the database answers a client on a machine that has the password of the service. */
  database(machine: MachineId): Promise<string> {
    const url = readFileSync(pathsIn(this.state).of('23', 'secrets', 'store'), 'utf8')
    return this.#callerOn(machine).ask('database', url)
  }

  /** Waits until an instance knows of no edge that is out of step. */
  inStep(instance: '23' | '25', withinMs = 60_000): Promise<void> {
    const isInStep = async () => {
      const { body } = await this.as('10', instance).call({ path: '/api/hosts' })
      return body.edges.every((edge: { inStep: boolean }) => edge.inStep)
    }
    return until(`the edges are in step for the service on ${instance}`, isInStep, withinMs)
  }

  /** Returns the process id. */
  signalPart(machine: MachineId, part: string, signal: NodeJS.Signals): number {
    const pid = this.pidOf(machine, part)
    if (pid === undefined) throw new Error(`${part} on ${machine} does not run.`)
    process.kill(pid, signal)
    return pid
  }

  killPart(machine: MachineId, part: string): number {
    return this.signalPart(machine, part, 'SIGKILL')
  }

  /** Waits until a part stands still at the point that its environment names. */
  hasStopped(machine: MachineId, part: string): Promise<void> {
    const isStopped = () => / T /.test(readFileSync(`/proc/${this.pidOf(machine, part)}/stat`, 'utf8'))
    return until(`${part} on ${machine} has stopped`, isStopped)
  }

  isGone(machine: MachineId, part: string): Promise<void> {
    return until(`${part} on ${machine} is gone`, () => this.pidOf(machine, part) === undefined)
  }

  /** Waits until an instance of the service answers. */
  isReady(instance: '23' | '25'): Promise<void> {
    const answers = async () => {
      const answer = await this.as('10', instance)
        .call({ path: '/readyz' })
        .catch(() => undefined)
      return answer?.status === 200
    }
    return until(`the service on ${instance} is ready`, answers)
  }

  /** The names of this network's namespaces that exist. */
  namespaces(): string[] {
    const names = execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' }).split('\n')
    return names.map((line) => line.split(' ')[0] ?? '').filter((name) => name.startsWith(`${this.prefix}-`))
  }

  /** Stops the network and removes its state. Returns the exit code of the program. May be called twice. */
  async stop(): Promise<number | null> {
    await Promise.all([...this.#callers.values()].map((caller) => caller.stop()))
    const { process: runner } = this.program
    if (runner.exitCode === null && runner.signalCode === null) {
      runner.kill('SIGTERM')
      await once(runner, 'exit')
    }
    if (existsSync(this.#folder.path)) this.#folder[Symbol.dispose]()
    return runner.exitCode
  }

  #callerOn(machine: MachineId): Caller {
    const caller = this.#callers.get(machine) ?? new Caller(this.description.machines[machine].namespace)
    this.#callers.set(machine, caller)
    return caller
  }

  #ip(machine: MachineId, ...args: string[]): void {
    const { namespace } = this.description.machines[machine]
    execFileSync('nsenter', [`--net=${namespace}`, 'ip', ...args], { stdio: 'pipe' })
  }
}
