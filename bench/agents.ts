import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { launcher } from '../lab/checkout.ts'
import { type Daemon, startDaemon } from '../lab/daemon.ts'
import { AGENT_TLS_PORT, edgeAgentConfig } from '../lab/edge-agents.ts'
import { enrollAgent } from '../lab/enrolment.ts'
import type { Lab } from '../lab/lab.ts'
import type { ServiceConfig } from '../lab/service-config.ts'

export interface Agents {
  /** The service's configuration with these agents in place of the edges. */
  configure(config: ServiceConfig): ServiceConfig
  /** Makes a service accept them that speaks with them over TLS. It must have been started with the configuration. */
  enroll(): Promise<void>
  stop(): Promise<void>
}

/** Starts an agent for each edge of a lab, with a unix socket and, for a service elsewhere, TLS. */
export async function startAgents({ description, state }: Lab, over: 'socket' | 'tls'): Promise<Agents> {
  const folder = join(state, 'agents')
  mkdirSync(folder, { recursive: true })
  const daemons: Daemon[] = []
  const places = [description.edges.primary, description.edges.secondary].map((edge) => ({
    ...{ edge, server: edge.server, address: edge.address },
    socket: join(folder, `run-${edge.server}`, 'edge.sock'),
    configFile: join(folder, `edge-${edge.server}.yaml`),
  }))
  for (const { edge, server, address, socket, configFile } of places) {
    const config = {
      ...edgeAgentConfig(description, edge),
      socket: { path: socket },
      listen: { address, port: AGENT_TLS_PORT },
      stateDir: join(folder, `state-${server}`),
    }
    writeFileSync(configFile, stringify(config))
    daemons.push(
      await startDaemon({
        name: `The agent of edge ${server}`,
        program: process.execPath,
        args: [launcher(), 'edge', '--config', configFile],
        logFile: join(folder, `edge-${server}.log`),
        isReady: () => accepts(socket),
      }),
    )
  }
  const agentAt = ({ socket, address }: (typeof places)[number]) =>
    over === 'socket' ? { socket } : { address, port: AGENT_TLS_PORT }
  return {
    configure: (config) => ({
      ...config,
      edges: Object.fromEntries(places.map((place) => [place.server, { agent: agentAt(place) }])),
    }),
    async enroll() {
      for (const { server, configFile } of places)
        await enrollAgent(server, { config: join(state, 'drawbridge.yaml') }, { config: configFile })
    },
    async stop() {
      await Promise.all(daemons.map((daemon) => daemon.stop()))
    },
  }
}

function accepts(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path }, () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
