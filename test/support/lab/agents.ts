import { mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { launcher } from '../../../lab/checkout.ts'
import { type Daemon, startDaemon } from '../../../lab/daemon.ts'
import type { EdgeDescription } from '../../../lab/description.ts'
import { AGENT_TLS_PORT, edgeAgentConfig } from '../../../lab/edge-agents.ts'
import { enrollAgent } from '../../../lab/enrolment.ts'
import type { ServiceConfig } from '../../../lab/service-config.ts'
import { PATH_OF } from '../../../src/edge/wire/verbs.ts'
import { takes } from '../delay.ts'
import { answered } from '../http/call.ts'
import { until } from '../until.ts'
import type { TestLab } from './lab.ts'

export interface LabAgents {
  /** The service's configuration with these agents in place of the edges. */
  readonly configure: (config: ServiceConfig) => ServiceConfig
  readonly agents: Readonly<Record<string, LabAgent>>
  stop(): Promise<void>
}

export interface AgentOptions {
  /** The service speaks with them over TLS. They have to be enrolled. */
  readonly tls?: boolean
  /** A group that may connect to the sockets. */
  readonly group?: string
  /** Changes edge.yaml before it is written. */
  readonly adjust?: (config: Record<string, unknown>) => Record<string, unknown>
}

/** Starts an agent for both edges of a lab. Each is started again when it dies, like those of a service manager. */
export async function startAgents(
  lab: Pick<TestLab, 'description' | 'state'>,
  options: AgentOptions = {},
): Promise<LabAgents> {
  const { primary, secondary } = lab.description.edges
  const agents: Record<string, LabAgent> = {}
  for (const edge of [primary, secondary]) {
    const agent = new LabAgent(lab, edge, options)
    await agent.start()
    agents[edge.server] = agent
  }
  return {
    agents,
    configure: (config) => ({
      ...config,
      edges: Object.fromEntries(
        Object.values(agents).map(({ server, socket, address }) => [
          server,
          { agent: options.tls ? { address, port: AGENT_TLS_PORT } : { socket } },
        ]),
      ),
    }),
    stop: async () => {
      await Promise.all(Object.values(agents).map((agent) => agent.stop()))
    },
  }
}

const PAUSE_MS = 300

export class LabAgent {
  readonly server: string
  readonly socket: string
  readonly address: string
  readonly stateDir: string
  readonly configFile: string
  readonly logFile: string
  #current: Daemon | undefined
  #isWanted = false
  #restart: Promise<unknown> = Promise.resolve()
  #environment: Readonly<Record<string, string>> = {}

  constructor(
    { description, state }: Pick<TestLab, 'description' | 'state'>,
    edge: EdgeDescription,
    options: AgentOptions,
  ) {
    const { group, tls, adjust = (config) => config } = options
    this.server = edge.server
    this.address = edge.address
    const folder = join(state, 'agents')
    mkdirSync(folder, { recursive: true, mode: 0o711 })
    this.socket = join(folder, `run-${edge.server}`, 'edge.sock')
    this.configFile = join(folder, `edge-${edge.server}.yaml`)
    this.logFile = join(folder, `edge-${edge.server}.log`)
    this.stateDir = join(folder, `state-${edge.server}`)
    const config = {
      ...edgeAgentConfig(description, edge),
      socket: { path: this.socket, ...(group !== undefined && { group }) },
      ...(tls && { listen: { address: edge.address, port: AGENT_TLS_PORT } }),
      stateDir: this.stateDir,
    }
    writeFileSync(this.configFile, stringify(adjust(config)))
  }

  get pid(): number {
    return this.#current?.pid ?? 0
  }

  /** Sets environment variables for the next start only. */
  setNextEnvironment(environment: Readonly<Record<string, string>>): void {
    this.#environment = environment
  }

  async start(): Promise<void> {
    this.#isWanted = true
    const environment = this.#environment
    this.#environment = {}
    const daemon = await startDaemon({
      name: `The agent of edge ${this.server}`,
      program: process.execPath,
      args: [launcher(), 'edge', '--config', this.configFile],
      logFile: this.logFile,
      env: { ...process.env, ...environment },
      readyWithinMs: 60_000,
      isReady: async () => (await askAgent(this.socket, 'describe', {})).status === 200,
    })
    this.#current = daemon
    void daemon.exited.then(() => {
      this.#restart = this.#again()
    })
  }

  /** Kills the agent. Resolves when the next one answers. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const { pid } = this
    process.kill(pid, signal)
    await this.replaced(pid)
  }

  /** Resolves when another process than this one answers. */
  async replaced(pid: number): Promise<void> {
    await until(`the agent of edge ${this.server} was started again`, () => this.pid !== pid)
    await this.#restart
  }

  async stop(): Promise<void> {
    this.#isWanted = false
    await this.#current?.stop()
    await this.#restart
    await this.#current?.stop()
  }

  async #again(): Promise<void> {
    await takes(PAUSE_MS)
    if (this.#isWanted) await this.start()
  }
}

/** Sends one message to an agent, whatever it is. Status 0: no answer. */
export function askAgent(
  socketPath: string,
  verb: string,
  message: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string }> {
  const text = typeof message === 'string' ? message : JSON.stringify(message)
  const asking = request({
    socketPath,
    method: 'POST',
    path: PATH_OF(verb),
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers },
  })
  return answered(asking, text).then(
    ({ status, text: body }) => ({ status, body }),
    () => ({ status: 0, body: '' }),
  )
}

/** Enrolls an agent of a lab, as an administrator does. */
export const enroll = (lab: Pick<TestLab, 'state'>, agent: Pick<LabAgent, 'server' | 'configFile'>): Promise<void> =>
  enrollAgent(agent.server, { config: join(lab.state, 'drawbridge.yaml') }, { config: agent.configFile })
