import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Edge } from '../src/edge/contract/edge.ts'
import { localEdge } from '../src/nginx/local-edge.ts'
import { systemClock } from '../src/primitives/clock.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import type { EdgeDescription } from './description.ts'
import { nginxConfig } from './nginx-config.ts'
import { canAnyoneEnter, findProgram, isRoot } from './program.ts'

/** Starts a real nginx with its own prefix and prepares it. Keeps the files of its hosts folder. */
export async function startEdge(edge: EdgeDescription): Promise<Daemon> {
  const daemon = await startNginx(edge)
  try {
    await prepare(edge, findProgram('nginx', 'nginx'))
    return daemon
  } catch (error) {
    await daemon.stop()
    throw error
  }
}

/** Starts a real nginx with its own prefix. It serves nothing until an edge is prepared there. */
export function startNginx(edge: EdgeDescription): Promise<Daemon> {
  mkdirSync(edge.prefix, { recursive: true, mode: 0o711 })
  for (const folder of [dirname(edge.errorLog), join(edge.prefix, 'temp')]) mkdirSync(folder, { recursive: true })
  writeFileSync(edge.config, nginxConfig(edge, workerUser(edge.prefix)))
  rmSync(edge.pidFile, { force: true })
  return startDaemon({
    name: `nginx on ${edge.server}`,
    program: findProgram('nginx', 'nginx'),
    args: ['-e', edge.errorLog, '-p', edge.prefix, '-c', edge.config, '-g', 'daemon off;'],
    logFile: join(dirname(edge.errorLog), 'output.log'),
    isReady: async () => hasContent(edge.pidFile),
  })
}

/** Does what the service does at its start, so that the edges refuse unknown names in a lab without the service, too. */
const prepare = (edge: EdgeDescription, binary: string): Promise<void> => labEdge(edge, binary).prepare()

/** The edge as the service has it. */
export function labEdge(edge: EdgeDescription, binary = findProgram('nginx', 'nginx')): Edge {
  const { server, address, http, https } = edge
  const ports = { http, https }
  return localEdge({ server, ...edgeFiles(edge), binary, address, listen: [address], ports, clock: systemClock })
}

/** The paths of an edge, as members of the service's configuration. */
export function edgeFiles({ config, folder, prefix, pidFile, errorLog }: EdgeDescription) {
  return { config, folder, prefix, pidFile, errorLog }
}

function workerUser(prefix: string): string | undefined {
  if (!isRoot()) return undefined
  return canAnyoneEnter(prefix)
    ? `nobody ${execFileSync('id', ['-gn', 'nobody'], { encoding: 'utf8' }).trim()}`
    : 'root'
}

function hasContent(file: string): boolean {
  try {
    return readFileSync(file, 'utf8') !== ''
  } catch {
    return false
  }
}
