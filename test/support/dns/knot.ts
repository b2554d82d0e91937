import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zoneFile } from '../../../lab/bind-config.ts'
import { freePort } from '../../../lab/free-port.ts'
import { findProgram } from '../../../lab/program.ts'
import { tempFolder } from '../temp-folder.ts'
import { pastedKey } from './pasted-key.ts'
import { type ServedZone, startZoneHost, type ZoneHost } from './served-zone.ts'

/** A real Knot DNS. */
export async function startKnot(served: ServedZone): Promise<ZoneHost> {
  const folder = tempFolder()
  const port = await freePort()
  const at = (file: string) => join(folder.path, file)
  mkdirSync(at('run'))
  writeFileSync(at('zone'), zoneFile({ name: served.zone, records: [] }, ['127.0.0.1', '127.0.0.1']))
  writeFileSync(at('knot.conf'), configuration(folder.path, port, served), { mode: 0o600 })
  return startZoneHost(folder, port, served.zone, {
    name: 'Knot',
    program: findProgram('knotd', 'knot'),
    args: ['-c', at('knot.conf')],
  })
}

/** What the administrator has, with what `drawbridge init` prints pasted below it. */
const configuration = (folder: string, port: number, served: ServedZone): string => `server:
  rundir: "${folder}/run"
  listen: 127.0.0.1@${port}
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
log:
  - target: stderr
    any: info
database:
  storage: "${folder}"
  journal-db-max-size: 8M
  kasp-db-max-size: 8M
  timer-db-max-size: 8M
key:
  - id: ${served.stranger.name}
    algorithm: ${served.stranger.algorithm}
    secret: ${served.stranger.secret}
${pastedKey('Knot', served).join('\n')}
    file: "${folder}/zone"
`
