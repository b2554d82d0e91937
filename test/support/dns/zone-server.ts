import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type Bind, startBind } from '../../../lab/bind.ts'
import type { Zone } from '../../../lab/bind-config.ts'
import { freePort } from '../../../lab/free-port.ts'
import { findProgram } from '../../../lab/program.ts'
import { type TempFolder, tempFolder } from '../temp-folder.ts'

export interface ZoneServer {
  readonly address: string
  readonly port: number
  /** Changes a zone with lines for nsupdate, such as `add www.lab.test 60 A 127.0.0.1`. */
  update(zone: string, ...lines: string[]): Promise<void>
  stop(): Promise<void>
}

/** A real BIND that serves the given zones on a free port. */
export async function startZoneServer(zones: readonly Zone[]): Promise<ZoneServer> {
  const folder = tempFolder()
  const port = await freePort()
  const tsig = { name: 'drawbridge', algorithm: 'hmac-sha256', secret: randomBytes(32).toString('base64') }
  const bind = await startBind({ folder: folder.path, port, zones, tsig })
  return {
    address: '127.0.0.1',
    port,
    update: (zone, ...lines) =>
      nsupdate([
        `server 127.0.0.1 ${port}`,
        `zone ${zone}`,
        `key ${tsig.algorithm}:${tsig.name} ${tsig.secret}`,
        ...lines,
      ]),
    stop: () => stop(bind, folder),
  }
}

async function nsupdate(lines: readonly string[]): Promise<void> {
  const program = spawn(findProgram('nsupdate', 'bind9-dnsutils'), { stdio: ['pipe', 'ignore', 'inherit'] })
  program.stdin.end(`${[...lines, 'send'].join('\n')}\n`)
  const [status] = await once(program, 'exit')
  if (status !== 0) throw new Error(`nsupdate refused: ${lines.at(-1)}`)
}

async function stop(bind: Bind, folder: TempFolder): Promise<void> {
  await bind.stop()
  folder[Symbol.dispose]()
}
