import type { EdgeAgentConfig } from '../../config/edge-agent.ts'
import { NO_ZONES } from '../../edge/agent/acceptance.ts'
import { type Agent, edgeAgent } from '../../edge/agent/agent.ts'
import { SecureListener } from '../../edge/agent/secure-listener.ts'
import { agentServer, closeServer, type ServerParts } from '../../edge/agent/server.ts'
import { listenOnSocket } from '../../edge/agent/socket.ts'
import { AgentIdentity } from '../../edge/authority/agent-identity.ts'
import { markRetired } from '../../edge/authority/retirement.ts'
import type { Edge } from '../../edge/contract/edge.ts'
import { FolderLock } from '../../edge/fences/folder-lock.ts'
import { FOLDERS } from '../../edge/layout.ts'
import { edgeReader } from '../../estate/reading/edge-reader.ts'
import { readMainFile } from '../../estate/reading/main-file.ts'
import type { EdgeSettings } from '../../estate/settings.ts'
import { formatEndpoint } from '../../model/address.ts'
import { agentMachine } from '../../nginx/agent-machine.ts'
import { buildFault, readBuild } from '../../nginx/process/nginx-build.ts'
import { masterPid } from '../../nginx/process/nginx-workers.ts'
import { rehearsePrepare } from '../../nginx/process/rehearse.ts'
import { examineEdge } from '../../operate/doctor/edges.ts'
import type { RunningAgent } from '../../operate/edge/run.ts'
import { systemClock } from '../../primitives/clock.ts'
import { AGENT_CRASH_POINTS, crashAt } from '../../runs/engine/crash-points.ts'
import type { Log } from '../../runtime/log.ts'
import { VERSION } from '../../runtime/version.ts'
import { forgottenRuns, ignoredFence } from '../edges.ts'

/** The agent of edge.yaml. It owns the edge's folder from now on, and does not listen yet. */
export function composeAgent(config: EdgeAgentConfig, log: Log): RunningAgent {
  const { server, nginx, ports, targets, zones } = config
  const settings: EdgeSettings = { ...nginx, server, ports, clock: systemClock }
  const identity = config.listen && new AgentIdentity(config.stateDir, server)
  const lock = new FolderLock(settings.folder, server)
  lock.take()
  const crashPoint = crashAt(process.env.DRAWBRIDGE_CRASH_AT, process.env.DRAWBRIDGE_STOP_AT, AGENT_CRASH_POINTS)
  if (zones.length === 0) log.warn({ event: 'edge_without_zones', server }, `${NO_ZONES}.`)
  const agent = edgeAgent({
    machine: agentMachine(settings, {
      lock,
      onIgnoredFence: ignoredFence(server, log),
      onForgottenRuns: forgottenRuns(server, log),
    }),
    targets,
    zones,
    adopts: config.adopt.enabled,
    identity,
    retire: () => markRetired(config.stateDir),
    version: VERSION,
    examine: async (edge) => [...(await examine(edge, settings)), ...zoneFindings(zones)],
    onUnexpected: (error) =>
      log.error({ event: 'edge_change_failed', err: error }, 'A change failed for a reason that is not known.'),
    onCrashPoint: (point) => crashPoint(`agent change ${point}`),
  })
  return {
    server,
    prepare: () => agent.prepare(),
    listen: () => listen(config, { agent, identity }, log),
    release: () => lock.release(),
    clock: systemClock,
  }
}

const zoneFindings = (zones: readonly string[]) =>
  zones.length > 0 ? [] : [{ subject: 'edge.yaml', status: 'fault', sentence: `${NO_ZONES}.` } as const]

async function examine(edge: Edge, settings: EdgeSettings) {
  const { config, folder, binary, pidFile } = settings
  const findings = await examineEdge({
    ...{ edge, part: 'Primary', config, folder, binary, pidFile, folders: FOLDERS },
    master: () => masterPid(pidFile),
    assertIncluded: () => readMainFile(settings),
    buildFault: async () => buildFault(await readBuild(binary, settings.clock)),
    rehearse: () => rehearsePrepare(settings),
    unread: async () => (await edgeReader(settings).read()).broken,
    now: settings.clock.now,
  })
  return findings.map(({ subject, status, sentence, fix }) => ({
    ...{ subject, status, sentence },
    ...(fix !== undefined && { fix }),
  }))
}

interface Listened {
  readonly agent: Agent
  readonly identity: AgentIdentity | undefined
}

async function listen(config: EdgeAgentConfig, { agent, identity }: Listened, log: Log) {
  const parts: Omit<ServerParts, 'refusalOf'> = {
    agent,
    clock: systemClock,
    onRefused: ({ verb, reason }) =>
      log.warn({ event: 'edge_message_refused', verb, reason }, 'A message to the agent was refused.'),
    onUnexpected: (error, verb) =>
      log.error({ event: 'edge_message_failed', err: error, verb }, 'A message could not be answered.'),
  }
  const closing: (() => Promise<void>)[] = []
  const places: string[] = []
  if (config.socket) {
    const server = agentServer({ ...parts, refusalOf: () => undefined })
    await listenOnSocket(server, config.socket)
    closing.push(() => closeServer(server, systemClock))
    places.push(config.socket.path)
  }
  if (config.listen && identity) {
    const place = formatEndpoint(config.listen)
    const listener = new SecureListener(parts, identity, config.listen)
    listener.start((error) =>
      log.error(
        { event: 'edge_agent_not_listening', err: error, server: config.server },
        identity.stamp === ''
          ? `The agent does not listen on ${place} yet. It will listen there once it has joined.`
          : `The agent does not listen on ${place} for other machines; retrying.`,
      ),
    )
    closing.push(() => listener.close())
    if (identity.stamp !== '') places.push(place)
  }
  const close = async () => {
    await Promise.all(closing.map((end) => end()))
  }
  return { places, close }
}
