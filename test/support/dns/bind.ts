import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { primaryConfig, zoneFile, zoneFileName } from '../../../lab/bind-config.ts'
import { freePort } from '../../../lab/free-port.ts'
import { findProgram } from '../../../lab/program.ts'
import { tempFolder } from '../temp-folder.ts'
import { type ServedZone, startZoneHost, type ZoneHost } from './served-zone.ts'

/** A real BIND with the configuration of the lab and a second key without rights. */
export async function startBindHost({ zone: name, key, stranger }: ServedZone, asked?: number): Promise<ZoneHost> {
  const folder = tempFolder()
  const port = asked ?? (await freePort())
  const zone = { name, records: [] }
  const at = (file: string) => join(folder.path, file)
  const ownConfig = primaryConfig({ folder: folder.path, port, tsig: key, zones: [zone] }, undefined)
  const strangersKey = `key "${stranger.name}." { algorithm ${stranger.algorithm}; secret "${stranger.secret}"; };\n`
  writeFileSync(at(zoneFileName(zone)), zoneFile(zone, ['127.0.0.1', '127.0.0.1']))
  writeFileSync(at('named.conf'), `${strangersKey}${ownConfig}`, { mode: 0o600 })
  return startZoneHost(folder, port, name, {
    name: 'BIND',
    program: findProgram('named', 'bind9'),
    args: ['-c', at('named.conf'), '-g', '-n', '1'],
  })
}
