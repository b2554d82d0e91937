import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { startBind } from '../../../lab/bind.ts'
import type { Zone } from '../../../lab/bind-config.ts'
import { freePort } from '../../../lab/free-port.ts'
import { findProgram } from '../../../lab/program.ts'
import type { Endpoint } from '../../../src/model/address.ts'
import { tempFolder } from '../temp-folder.ts'

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
  const at = { address: '127.0.0.1', port }
  return {
    ...at,
    update: async (zone, ...lines) => nsupdate(at, zone, tsig, lines),
    async stop() {
      await bind.stop()
      folder[Symbol.dispose]()
    },
  }
}

/** Changes a zone, with lines for nsupdate. Throws if the server refuses. */
export function nsupdate(
  { address, port }: Endpoint,
  zone: string,
  { name, algorithm, secret }: Readonly<Record<'name' | 'algorithm' | 'secret', string>>,
  lines: readonly string[],
): void {
  const beginning = [`server ${address} ${port}`, `zone ${zone}`, `key ${algorithm}:${name} ${secret}`]
  const input = [...beginning, ...lines, 'send', ''].join('\n')
  execFileSync(findProgram('nsupdate', 'bind9-dnsutils'), { input, stdio: ['pipe', 'pipe', 'inherit'] })
}
