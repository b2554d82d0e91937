import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type DaemonOptions, startDaemon } from '../../../lab/daemon.ts'
import { answersForZone } from '../../../lab/dns-question.ts'
import type { TsigKeySettings } from '../../../src/dns/tsig.ts'
import type { Endpoint } from '../../../src/model/address.ts'
import type { TempFolder } from '../temp-folder.ts'

/** The zone of a real server: `key` may update it; the server also knows the key `stranger`, which may not. */
export interface ServedZone {
  readonly zone: string
  readonly key: TsigKeySettings
  readonly stranger: TsigKeySettings
}

/** A real server for one test. */
export interface ZoneHost {
  readonly endpoint: Endpoint
  readonly pid: number
  stop(): Promise<void>
}

/** Starts a name server on this port with the zone. `folder`: its own, which goes with it. */
export async function startZoneHost(
  folder: TempFolder,
  port: number,
  zone: string,
  { name, program, args }: Pick<DaemonOptions, 'name' | 'program' | 'args'>,
): Promise<ZoneHost> {
  const daemon = await startDaemon({
    ...{ name, program, args },
    logFile: join(folder.path, 'server.log'),
    isReady: () => answersForZone(port, zone),
  })
  return {
    endpoint: { address: '127.0.0.1', port },
    pid: daemon.pid,
    async stop() {
      await daemon.stop()
      folder[Symbol.dispose]()
    },
  }
}

export const randomKey = (name: string, algorithm: TsigKeySettings['algorithm'] = 'hmac-sha256'): TsigKeySettings => ({
  name,
  algorithm,
  secret: randomBytes(32).toString('base64'),
})
