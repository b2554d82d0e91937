import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { zoneFile } from '../../../lab/bind-config.ts'
import { freePort } from '../../../lab/free-port.ts'
import { findProgram } from '../../../lab/program.ts'
import { tempFolder } from '../temp-folder.ts'
import { pastedKey } from './pasted-key.ts'
import { type ServedZone, startZoneHost, type ZoneHost } from './served-zone.ts'

const SCHEMA = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql'

/** A real PowerDNS with its zone in SQLite. */
export async function startPowerDns({ zone, key, stranger }: ServedZone): Promise<ZoneHost> {
  const folder = tempFolder()
  const port = await freePort()
  const at = (file: string) => join(folder.path, file)
  writeFileSync(at('pdns.conf'), configuration(folder.path, port), { mode: 0o600 })
  writeFileSync(at('zone'), zoneFile({ name: zone, records: [] }, ['127.0.0.1', '127.0.0.1']))
  new Database(at('pdns.db')).exec(readFileSync(SCHEMA, 'utf8')).close()
  const pdnsutil = (...args: string[]) =>
    execFileSync(findProgram('pdnsutil', 'pdns-server'), ['--config-dir', folder.path, ...args], { stdio: 'pipe' })
  pdnsutil('load-zone', zone, at('zone'))
  pdnsutil('import-tsig-key', stranger.name, stranger.algorithm, stranger.secret)
  for (const line of pastedKey('PowerDNS', { zone, key })) pdnsutil(...line.split(' ').slice(1))
  return startZoneHost(folder, port, zone, {
    name: 'PowerDNS',
    program: findProgram('pdns_server', 'pdns-server'),
    args: [`--config-dir=${folder.path}`],
  })
}

const configuration = (folder: string, port: number): string => `launch=gsqlite3
gsqlite3-database=${folder}/pdns.db
dnsupdate=yes
allow-dnsupdate-from=
local-address=127.0.0.1
local-port=${port}
socket-dir=${folder}
daemon=no
guardian=no
security-poll-suffix=
`
