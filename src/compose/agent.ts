import type { EdgeAgentConfig } from '../config/edge-agent.ts'
import { type Agent, edgeAgent } from '../edge/agent/agent.ts'
import { agentServer, closeServer, type ServerParts } from '../edge/agent/server.ts'
import { listenOnSocket } from '../edge/agent/socket.ts'
import { FOLDERS } from '../edge/config/layout.ts'
import { ownFolder } from '../edge/files/folder-lock.ts'
import { masterPid } from '../edge/process/nginx-workers.ts'
import { readMainFile } from '../edge/reading/main-file.ts'
import type { EdgeSettings } from '../edge/settings.ts'
import { examineEdge } from '../operate/doctor/edges.ts'
import type { RunningAgent } from '../operate/edge/run.ts'
import { AGENT_CRASH_POINTS, crashAt } from '../runs/engine/crash-points.ts'
import type { Log } from '../runtime/log.ts'
import { VERSION } from '../runtime/version.ts'

/** The agent of edge.yaml. It owns the edge's folder from now on, and does not listen yet. */
export function composeAgent(config: EdgeAgentConfig, log: Log): RunningAgent {
  const { server, nginx, ports, targets } = config
  const settings: EdgeSettings = { ...nginx, server, ports }
  const release = ownFolder(settings.folder)
  const crashPoint = crashAt(process.env.DRAWBRIDGE_CRASH_AT, process.env.DRAWBRIDGE_STOP_AT, AGENT_CRASH_POINTS)
  const agent = edgeAgent({
    settings,
    targets,
    version: VERSION,
    examine: (edge) =>
      examineEdge({
        edge,
        part: 'Primary',
        config: nginx.config,
        folder: nginx.folder,
        binary: nginx.binary,
        pidFile: nginx.pidFile,
        folders: FOLDERS,
        master: () => masterPid(nginx.pidFile),
        assertIncluded: () => readMainFile(settings),
      }).then((findings) =>
        findings.map(({ subject, status, sentence, fix }) => ({
          subject,
          status,
          sentence,
          ...(fix !== undefined && { fix }),
        })),
      ),
    onUnexpected: (error) =>
      log.error({ event: 'edge_change_failed', err: error }, 'A change failed for a reason that is not known.'),
    reached: (point) => crashPoint(`agent change ${point}`),
  })
  return { server, prepare: () => agent.prepare(), listen: () => listen(config, agent, log), release }
}

async function listen({ socket }: EdgeAgentConfig, agent: Agent, log: Log) {
  const parts: ServerParts = {
    agent,
    refusalOf: () => undefined,
    onRefused: ({ verb, reason }) =>
      log.warn({ event: 'edge_message_refused', verb, reason }, 'A message to the agent was refused.'),
    onUnexpected: (error, verb) =>
      log.error({ event: 'edge_message_failed', err: error, verb }, 'A message could not be answered.'),
  }
  const servers: Parameters<typeof closeServer>[0][] = []
  const places: string[] = []
  if (socket) {
    const server = agentServer(parts)
    await listenOnSocket(server, socket)
    servers.push(server)
    places.push(socket.path)
  }
  const close = async () => {
    await Promise.all(servers.map((server) => closeServer(server)))
  }
  return { places, close }
}
