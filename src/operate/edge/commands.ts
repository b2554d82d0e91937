import { isIPv6 } from 'node:net'
import type { Command } from 'commander'
import type { Config } from '../../config/config.ts'
import type { EdgeAgentConfig } from '../../config/edge-agent.ts'
import type { Endpoint } from '../../model/address.ts'
import type { Clock } from '../../primitives/clock.ts'
import { type Configured, confirm, onThisMachine, UsageError, withExample, withJson } from '../../terminal/declare.ts'
import { print, standardOutput } from '../../terminal/print.ts'
import { configIn } from '../open-config.ts'
import { AGENT_FILE, agentConfigIn } from './agent-config.ts'
import { addLeave, type LeftNginx } from './leave.ts'
import { addRetire, type RetiredEdge } from './retire.ts'

/** Waits for an agent to fetch its certificate. */
interface OpenEnrolment {
  readonly code: string
  readonly expiresAt: number
  readonly joined: Promise<void>
  readonly close: () => void
}

/** The parts of the commands for edges that an agent owns. Every member loads its code when it is called. */
export interface EdgeMachine {
  readonly clock: Clock
  /** Runs the agent until SIGTERM or SIGINT. */
  runAgent(config: EdgeAgentConfig): Promise<void>
  /** Makes a one-time code for the agent of a server. Nothing is enrolled before `confirm` has resolved. */
  enroll(
    config: Config,
    at: { server: string; address: string; port: number },
    confirm: (fingerprint: string) => Promise<void>,
  ): Promise<OpenEnrolment>
  /** Makes the key of the agent unless it waits for its certificate already. Resolves with its fingerprint. */
  prepareKey(config: EdgeAgentConfig): Promise<string>
  /** Fetches the certificate of the prepared key with a code. */
  join(config: EdgeAgentConfig, code: string): Promise<void>
  /** Takes Drawbridge out of the nginx of this machine. No agent may run, and no host may be served unless the edge is retired. */
  leave(config: EdgeAgentConfig, retired: boolean): Promise<LeftNginx>
  /** Retires a Secondary. */
  retire(config: Config, server: string): Promise<RetiredEdge>
  /**
   * Gives hosts of an edge to another store: all of `from`, or those that are named. Resolves with their names. Rejects while a
   * service or an agent owns the folder.
   */
  handOver(
    place: { readonly server: string; readonly folder: string },
    given: { from: string; to: string; hosts: readonly string[] },
  ): Promise<readonly string[]>
  /** False if the server had no enrolled agent. */
  revoke(config: Config, server: string): Promise<boolean>
  /** Resolves with the new edition of the certificates of services. */
  revokeServices(config: Config): Promise<number>
}

interface EdgeOptions {
  readonly config?: string
  readonly check?: boolean
}

/** `edge`: the command of edges. Without a further word it runs the agent. */
export function addAgent(edge: Command, machine: EdgeMachine): void {
  const command = edge
    .enablePositionalOptions()
    .description('run the agent that owns the nginx of this machine, or look after edges')
    .option('--config <file>', 'the configuration of the agent, as in edge.example.yaml')
    .option('--check', 'only check the configuration')
    .action(async ({ config: file, check }: EdgeOptions) => {
      if (file === undefined) throw new UsageError('Pass the configuration of the agent with --config edge.yaml.')
      const config = await agentConfigIn(file)
      if (check) return standardOutput().print(`${file} is valid.`)
      await machine.runAgent(config)
    })
  withExample(command, 'drawbridge edge --config /etc/drawbridge/edge.yaml')
  addEnroll(edge, machine)
  addJoin(edge, machine)
  addLeave(edge, machine)
  addHandOver(edge, machine)
  addRevoke(edge, machine)
  addRetire(edge, machine)
}

interface EnrollOptions extends Configured {
  readonly address?: string
  readonly port: string
  readonly fingerprint?: string
}

function addEnroll(edge: Command, machine: EdgeMachine): void {
  const command = onThisMachine(edge.command('enroll <server>'))
    .description('make a one-time code for the agent of a server, and wait until it has fetched its certificate')
    .option('--address <address>', "where the agent finds this machine (default: the service's listen.address)")
    .option('--port <port>', 'the port to wait on (default: any that is free)', '0')
    .option('--fingerprint <hash>', 'ask nobody: enroll the key that "drawbridge edge join --prepare" has shown')
    .action(async (server: string, { config: file, address, port, fingerprint }: EnrollOptions) => {
      const isConfirmed = confirmation(server, fingerprint)
      const config = await configIn(file)
      const agent = assertAgent(config, server)
      const at = { server, address: address ?? (await listenAddress(config, agent)), port: portIn(port) }
      const { code, joined, expiresAt } = await machine.enroll(config, at, isConfirmed)
      const until = new Date(expiresAt).toISOString()
      standardOutput().print(
        `Run this on the machine of edge ${server} before ${until}, and leave this command running:`,
        `drawbridge edge join --config ${AGENT_FILE}`,
        'It asks for this code, which nobody else may see:',
        code,
      )
      await joined
      standardOutput().print(`The agent of edge ${server} has its certificate.`)
    })
  withExample(command, 'drawbridge edge enroll 73 --config /etc/drawbridge/drawbridge.yaml')
}

/** A person who has seen the code may come first. A person or the option confirms that the key belongs to the agent. */
function confirmation(server: string, expected: string | undefined): (fingerprint: string) => Promise<void> {
  if (expected === undefined && !process.stdin.isTTY)
    throw new UsageError(
      'Not a terminal: pass the fingerprint that "drawbridge edge join --prepare" prints on that machine with --fingerprint.',
    )
  if (expected !== undefined && !/^SHA256:[A-Za-z0-9+/]{43}$/.test(expected))
    throw new UsageError(`${JSON.stringify(expected)} is not a fingerprint. It begins with SHA256:`)
  return async (fingerprint) => {
    if (expected === undefined) {
      standardOutput().print(`An agent has come with the code. The fingerprint of its key is ${fingerprint}`)
      const question = `Does "drawbridge edge join" on the machine of edge ${server} show the same?`
      return confirm({ question, action: 'enroll it', yes: undefined })
    }
    if (fingerprint === expected) return
    throw new Error(
      `Somebody came with the code and a key of another fingerprint (${fingerprint}). Nothing was enrolled. ` +
        'Find out who has seen the code, then make a new one.',
    )
  }
}

interface JoinOptions extends Configured {
  readonly codeFile?: string
  readonly prepare?: boolean
}

function addJoin(edge: Command, machine: EdgeMachine): void {
  const command = onThisMachine(edge.command('join'), AGENT_FILE)
    .description('fetch the certificate of the agent of this machine with the code of "drawbridge edge enroll"')
    .option('--code-file <file>', 'the first line of this file is the code (default: standard input)')
    .option('--prepare', 'only make the key of the agent, and print its fingerprint')
    .action(async ({ config: file, codeFile, prepare }: JoinOptions) => {
      const config = await agentConfigIn(file)
      const fingerprint = await machine.prepareKey(config)
      standardOutput().print(`The fingerprint of the key of this agent is ${fingerprint}`)
      if (prepare) return
      const { codeFrom } = await import('./code.ts')
      await machine.join(config, await codeFrom(codeFile, machine.clock))
      standardOutput().print(`The agent of edge ${config.server} has its certificate, in ${config.stateDir}.`)
    })
  withExample(
    command,
    'drawbridge edge join --config /etc/drawbridge/edge.yaml',
    'drawbridge edge join --code-file /root/code --config /etc/drawbridge/edge.yaml',
  )
}

async function agentPlace(file: string) {
  const { server, nginx } = await agentConfigIn(file)
  return { server, folder: nginx.folder }
}

interface HandOverOptions extends Configured {
  readonly server?: string
  readonly yes?: boolean
}

function addHandOver(edge: Command, machine: EdgeMachine): void {
  const command = onThisMachine(edge.command('hand-over <from> <to> [hosts...]'), AGENT_FILE)
    .description('give hosts of this edge to another store: that of a service that is gone to that of a new one')
    .option('--server <server>', 'the edge that the service with this configuration changes itself')
    .option('--yes', 'do not ask for confirmation')
    .action(async (from: string, to: string, hosts: string[], { config: file, server, yes, json }: HandOverOptions) => {
      const place = server === undefined ? await agentPlace(file) : { server, folder: await folderOf(file, server) }
      const what = hosts.length > 0 ? hosts.join(', ') : `all hosts of ${from}`
      const question = `Give ${what} to store ${to}? The service of ${from} cannot change them here any more.`
      await confirm({ question, action: 'hand them over', yes })
      const given = await machine.handOver(place, { from, to, hosts })
      const sentence = `${given.length === 1 ? '1 host belongs' : `${given.length} hosts belong`} to store ${to} now.`
      print({ body: { from, to, hosts: given }, lines: () => [sentence] }, json)
    })
  withExample(
    withJson(command),
    `drawbridge edge hand-over store_4f1c store_a07b --config ${AGENT_FILE}`,
    'drawbridge edge hand-over store_4f1c store_a07b shop.example.test --server 23 --config /etc/drawbridge/drawbridge.yaml',
  )
}

async function folderOf(file: string, server: string): Promise<string> {
  const { edges } = await configIn(file)
  const folder = edges[server]?.folder
  if (folder === undefined) throw new UsageError(`By ${file} the service does not change edge ${server} itself.`)
  return folder
}

function addRevoke(edge: Command, machine: EdgeMachine): void {
  const command = onThisMachine(edge.command('revoke [server]'))
    .description('do not accept the certificate of an agent any more, or those that all services have shown until now')
    .option('--services', 'new certificates for all services; agents refuse the former ones')
    .action(
      async (server: string | undefined, { config: file, services, json }: Configured & { services?: boolean }) => {
        const config = await configIn(file)
        if ((server === undefined) === (services === undefined))
          throw new UsageError('Pass either the server whose agent is revoked, or --services.')
        if (server === undefined) {
          const edition = await machine.revokeServices(config)
          const sentence = `Services get certificates of edition ${edition}. Each agent refuses the former ones once it has seen a new one.`
          return print({ body: { edition }, lines: () => [sentence] }, json)
        }
        assertAgent(config, server)
        const revoked = await machine.revoke(config, server)
        const sentence = revoked
          ? `The agent of edge ${server} is not accepted any more. Enroll it again: drawbridge edge enroll ${server}`
          : `No agent of edge ${server} was enrolled.`
        print({ body: { server, revoked }, lines: () => [sentence] }, json)
      },
    )
  withExample(
    withJson(command),
    'drawbridge edge revoke 73 --config /etc/drawbridge/drawbridge.yaml',
    'drawbridge edge revoke --services --config /etc/drawbridge/drawbridge.yaml',
  )
}

function assertAgent({ agents }: Config, server: string): Endpoint {
  const agent = agents[server]
  if (agent && 'address' in agent) return agent
  throw new UsageError(
    `edges.${server}.agent has no address in the configuration. Only an agent on another machine has a certificate. ` +
      'Run this on the machine of an instance that reaches the agent by an address.',
  )
}

/** The service's own address, or the one with which this machine would call the agent. */
async function listenAddress({ listen }: Config, agent: Endpoint): Promise<string> {
  if (listen.address !== '0.0.0.0' && listen.address !== '::') return listen.address
  const { createSocket } = await import('node:dgram')
  const socket = createSocket(isIPv6(agent.address) ? 'udp6' : 'udp4')
  try {
    // Nothing is sent: the system chooses the address.
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject).connect(agent.port, agent.address, resolve)
    })
    return socket.address().address
  } catch {
    throw new UsageError(
      `This machine has no way to ${agent.address}. Pass the address under which the agent finds it with --address.`,
    )
  } finally {
    socket.close()
  }
}

function portIn(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new UsageError(`${JSON.stringify(text)} is not a port.`)
}
