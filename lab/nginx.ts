import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Daemon, startDaemon } from './daemon.ts'
import type { EdgeDescription } from './description.ts'
import { nginxConfig } from './nginx-config.ts'
import { canAnyoneReach, findProgram, isRoot } from './program.ts'
import { httpStatus } from './web-question.ts'

/** A real nginx with its own prefix. Files in its hosts folder are kept from one start to the next. */
export function startEdge(edge: EdgeDescription): Promise<Daemon> {
  prepareFolders(edge)
  writeFileSync(edge.config, nginxConfig(edge, workerUser(edge.prefix)))
  return startDaemon({
    name: `nginx on ${edge.server}`,
    program: findProgram('nginx', 'nginx'),
    args: ['-e', edge.errorLog, '-p', edge.prefix, '-c', edge.config, '-g', 'daemon off;'],
    logFile: join(dirname(edge.errorLog), 'output.log'),
    isReady: async () => (await httpStatus(`http://${edge.address}:${edge.http}/`)) === 404,
  })
}

function prepareFolders(edge: EdgeDescription): void {
  mkdirSync(edge.prefix, { recursive: true, mode: 0o711 })
  for (const folder of [edge.hosts, dirname(edge.errorLog), join(edge.prefix, 'temp')])
    mkdirSync(folder, { recursive: true })
}

function workerUser(prefix: string): string | undefined {
  if (!isRoot()) return undefined
  return canAnyoneReach(prefix)
    ? `nobody ${execFileSync('id', ['-gn', 'nobody'], { encoding: 'utf8' }).trim()}`
    : 'root'
}
