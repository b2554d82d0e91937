import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NetworkDescription } from '../../../network/description.ts'
import { type Network, startNetwork } from '../../../network/network.ts'
import type { MachineId } from '../../../network/plan.ts'
import type { Answer, Call } from '../http/call.ts'
import type { CalledService } from '../lab/exposure.ts'
import { tempFolder } from '../temp-folder.ts'
import { until } from '../until.ts'
import { Caller } from './caller.ts'

/** A whole network of the specification for one test file. */
export interface TestNetwork extends Omit<Network, 'stop'> {
  /** An instance of the service as a machine reaches it. */
  as(machine: MachineId, instance?: '23' | '25'): CalledService
  /** A visitor on a machine: the status of a host over HTTPS through an edge, or why there is no answer. */
  visit(machine: MachineId, edge: '23' | '73', host: string): Promise<number | string>
  /** The addresses that a name server tells a machine. Undefined: no answer. */
  addresses(machine: MachineId, server: '23' | '73', name: string): Promise<string[] | undefined>
  /** Cuts the cable of a machine during `work`, and mends it. */
  withoutCable<T>(machine: MachineId, work: () => Promise<T>): Promise<T>
  cutCable(machine: MachineId): void
  mendCable(machine: MachineId): void
  /** Kills a part that is started again. Resolves when its successor is there. */
  killPart(machine: MachineId, part: string, signal?: NodeJS.Signals): Promise<void>
  /** Stops the network and removes its state. */
  stop(): Promise<void>
}

export async function startTestNetwork(): Promise<TestNetwork> {
  const folder = tempFolder()
  const prefix = `drawbridge-test-${process.pid}`
  const network = await startNetwork({ state: join(folder.path, 'network'), prefix }).catch((error) => {
    folder[Symbol.dispose]()
    throw error
  })
  return {
    ...controls(network),
    ...questions(network, folder),
    get description() {
      return network.description
    },
  }
}

function questions(network: Network, folder: Disposable) {
  const { machines, api, zone, edges, acme, dns } = network.description
  const callers = new Map<MachineId, Caller>()
  const callerOn = (machine: MachineId): Caller => {
    const caller = callers.get(machine) ?? new Caller(machines[machine].namespace)
    callers.set(machine, caller)
    return caller
  }
  return {
    as: (machine: MachineId, instance: '23' | '25' = '23'): CalledService => ({
      description: { zone },
      call: (request: Omit<Call, 'from'>): Promise<Answer> =>
        callerOn(machine).ask('call', api[instance], { ...request, from: machines[machine].address }),
    }),
    visit: (machine: MachineId, edge: '23' | '73', host: string): Promise<number | string> =>
      callerOn(machine)
        .ask('visit', edges[edge], { host, path: '/healthz', ca: readFileSync(acme.ca, 'utf8') })
        .then(
          ({ status }) => status,
          ({ message }: Error) => message,
        ),
    addresses: (machine: MachineId, server: '23' | '73', name: string) =>
      callerOn(machine).ask('addresses', server === '23' ? dns.primary : dns.secondary, name),
    async stop() {
      await Promise.all([...callers.values()].map((caller) => caller.stop()))
      await network.stop()
      folder[Symbol.dispose]()
    },
  }
}

function controls(network: Network) {
  const ip = (machine: MachineId, ...args: string[]) => {
    const { namespace } = network.description.machines[machine]
    execFileSync('nsenter', [`--net=${namespace}`, 'ip', ...args], { stdio: 'pipe' })
  }
  const cutCable = (machine: MachineId) => ip(machine, 'link', 'set', cableOf(network.description, machine), 'down')
  const mendCable = (machine: MachineId) => {
    const { address, interface: cable } = network.description.machines[machine]
    ip(machine, 'link', 'set', cable, 'up')
    ip(machine, 'route', 'replace', 'default', 'via', address.replace(/\d+$/, '1'))
  }
  return {
    state: network.state,
    startPart: network.startPart.bind(network),
    stopPart: network.stopPart.bind(network),
    cutCable,
    mendCable,
    async withoutCable<T>(machine: MachineId, work: () => Promise<T>): Promise<T> {
      cutCable(machine)
      return work().finally(() => mendCable(machine))
    },
    async killPart(machine: MachineId, part: string, signal: NodeJS.Signals = 'SIGKILL') {
      const pid = () => network.description.machines[machine].pids[part]
      const killed = pid()
      if (killed === undefined) throw new Error(`${part} on ${machine} does not run.`)
      process.kill(killed, signal)
      await until(`${part} on ${machine} runs again`, () => pid() !== undefined && pid() !== killed)
    },
  }
}

const cableOf = ({ machines }: NetworkDescription, machine: MachineId): string => machines[machine].interface
