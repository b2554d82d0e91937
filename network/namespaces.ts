import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { findProgram } from '../lab/program.ts'
import { INTERFACE, MACHINE_IDS, MACHINES, type MachineId, NETWORKS } from './plan.ts'

const run = (program: string, debianPackage: string, args: readonly string[]): string =>
  execFileSync(findProgram(program, debianPackage), args, { encoding: 'utf8', stdio: 'pipe' })

const ip = (...args: string[]): string => run('ip', 'iproute2', args)
const ipIn = (namespace: string, ...args: string[]): string => ip('-n', namespace, ...args)

const namespacePath = (name: string): string => `/run/netns/${name}`

/** The network namespaces of one network. Switches and router have their own, so the host gets no route and no address. */
export class Namespaces {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  name(of: MachineId | 'router' | 'lan' | 'outside'): string {
    return `${this.#prefix}-${of}`
  }

  path(machine: MachineId): string {
    return namespacePath(this.name(machine))
  }

  build(): void {
    const router = this.#add('router')
    run('nsenter', 'util-linux', [`--net=${namespacePath(router)}`, findProgram('sysctl', 'procps'), '-qw', FORWARD])
    for (const { switch: name, gateway } of NETWORKS) {
      const bridge = this.#add(name)
      ipIn(bridge, 'link', 'add', 'br0', 'type', 'bridge')
      ipIn(bridge, 'link', 'set', 'br0', 'up')
      this.#plugIn(router, `${name}0`, `${gateway}/24`, bridge, 'router')
    }
    for (const machine of MACHINE_IDS) {
      const { network, address } = MACHINES[machine]
      const namespace = this.#add(machine)
      this.#plugIn(namespace, INTERFACE, `${address}/24`, this.name(network.switch), machine)
      ipIn(namespace, 'route', 'add', 'default', 'via', network.gateway)
    }
  }

  /** A namespace without a name lives on as long as a process is in it. May be called twice. */
  remove(): void {
    for (const name of this.#existing()) ip('netns', 'del', name)
  }

  /** Throws if the namespaces are in use. Removes those that a network left when it was killed. */
  assertNoneInUse(): void {
    const pids = this.#existing().flatMap((name) => processesIn(name))
    if (pids.length > 0) throw new Error(inUse(pids))
    this.remove()
  }

  #existing(): string[] {
    const names = ip('netns', 'list')
      .split('\n')
      .map((line) => line.split(' ')[0] ?? '')
    return names.filter((name) => name.startsWith(`${this.#prefix}-`))
  }

  #add(of: Parameters<Namespaces['name']>[0]): string {
    const name = this.name(of)
    ip('netns', 'add', name)
    ipIn(name, 'link', 'set', 'lo', 'up')
    return name
  }

  /** Puts a cable between a namespace and a switch. */
  #plugIn(namespace: string, cable: string, address: string, bridge: string, port: string): void {
    ip('link', 'add', cable, 'netns', namespace, 'type', 'veth', 'peer', 'name', `to-${port}`, 'netns', bridge)
    ipIn(namespace, 'addr', 'add', address, 'dev', cable)
    ipIn(namespace, 'link', 'set', cable, 'up')
    ipIn(bridge, 'link', 'set', `to-${port}`, 'master', 'br0', 'up')
  }
}

const FORWARD = 'net.ipv4.ip_forward=1'

const processesIn = (name: string): number[] =>
  ip('netns', 'pids', name)
    .split('\n')
    .filter((line) => line !== '')
    .map(Number)

function inUse(pids: readonly number[]): string {
  const owner = pids
    .filter(isOnMachine)
    .map(parentOf)
    .find((pid) => pid !== undefined && pid > 1 && !pids.includes(pid))
  if (owner !== undefined)
    return `A network already runs on this machine (pid ${owner}). Stop it with \`kill ${owner}\` first.`
  return `Processes still run in the namespaces of an earlier network. Stop them with \`kill ${pids.join(' ')}\` and start again.`
}

/** Those who only look in from outside have no mounts of their own. */
function isOnMachine(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`) !== readlinkSync('/proc/self/ns/mnt')
  } catch {
    return false
  }
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}
