import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EdgeMap } from '../src/edge/served.ts'
import { edgeReader } from '../src/estate/reading/edge-reader.ts'
import { systemClock } from '../src/primitives/clock.ts'
import { inFolder } from './bench-lab.ts'
import { timed } from './measure.ts'
import type { Sizes } from './sizes.ts'
import { type Row, row } from './table.ts'

const MOST_MS = { reading: 1000, lookup: 1 }

/** Reading an edge of many hosts, as one large file and as one file per host. */
export const readerRows = ({ hosts, lookups }: Sizes['reads']): Promise<Row[]> =>
  inFolder(async (folder) => {
    const { one, many } = writeBoth(folder, hosts)
    return [
      ...(await measure(`nginx's files, ${hosts} hosts in one file`, one, { hosts, lookups })),
      ...(await measure(`nginx's files, ${hosts} hosts in a file each`, many, { hosts, lookups })),
    ]
  })

/** A separate function, so that the texts can be garbage-collected before the measurement. */
function writeBoth(folder: string, hosts: number): { one: string; many: string } {
  const texts = Array.from({ length: hosts }, (_, index) => siteText(hostName(index), index))
  return {
    one: writeSites(join(folder, 'one'), [texts.join('\n')]),
    many: writeSites(join(folder, 'many'), texts),
  }
}

interface Size {
  readonly hosts: number
  readonly lookups: number
}

async function measure(name: string, config: string, size: Size): Promise<Row[]> {
  const reader = edgeReader({ config, pidFile: '/nowhere', folder: '/nowhere', clock: systemClock })
  const sites = join(config, '..', 'sites')
  await sleep(200) // The reader reads a younger file again, because it may still change.
  const reading = await costOf(() => reader.read())
  const unchanged = await costOf(() => reader.read())
  appendFileSync(join(sites, '0.conf'), '# changed\n')
  const changed = await costOf(() => reader.read())
  const map = await reader.read()
  if (map.hosts.length !== size.hosts) throw new Error(`The reader found ${map.hosts.length} of ${size.hosts} hosts.`)
  return [
    row(`${name}: first reading`, 'ms', reading.ms, { most: MOST_MS.reading }),
    row(`${name}: first reading, processor time of the thread`, 'ms', reading.workMs),
    row(`${name}: read again, nothing has changed`, 'ms', unchanged.ms),
    row(`${name}: read again, one file has changed`, 'ms', changed.ms),
    row(`${name}: one lookup (mean)`, 'ms', await lookup(map, size), { most: MOST_MS.lookup }),
  ]
}

/** Wall-clock time and CPU time of this thread. */
async function costOf(work: () => Promise<unknown>): Promise<{ ms: number; workMs: number }> {
  const before = process.threadCpuUsage()
  const ms = await timed(work)
  const { user, system } = process.threadCpuUsage(before)
  return { ms, workMs: (user + system) / 1000 }
}

async function lookup(map: EdgeMap, { hosts, lookups }: Size): Promise<number> {
  const place = { address: '192.168.45.23', port: 443, tls: true }
  const ms = await timed(async () => {
    for (let index = 0; index < lookups; index += 1) {
      const host = hostName((index * 7919) % hosts)
      if (map.find(host)?.host !== host || map.answers(host, place)?.how !== 'exact')
        throw new Error(`The map does not have ${host}.`)
    }
  })
  return ms / lookups
}

function writeSites(folder: string, texts: readonly string[]): string {
  mkdirSync(join(folder, 'sites'), { recursive: true })
  for (const [index, text] of texts.entries()) writeFileSync(join(folder, 'sites', `${index}.conf`), text)
  const config = join(folder, 'nginx.conf')
  writeFileSync(config, 'events {}\nhttp {\n  include sites/*.conf;\n}\n')
  return config
}

const hostName = (index: number): string => `service-${index}.example.test`

/** A typical site: a redirect and a proxying server. */
const siteText = (host: string, index: number): string => `# ${host}
server {
  listen 80;
  listen [::]:80;
  server_name ${host};
  return 301 https://$host$request_uri;
}

server {
  listen 443 ssl http2;
  listen [::]:443 ssl http2;
  server_name ${host};
  ssl_certificate /etc/ssl/example.test/fullchain.pem;
  ssl_certificate_key /etc/ssl/example.test/privkey.pem;
  add_header Strict-Transport-Security "max-age=31536000" always;
  client_max_body_size 64m;

  location / {
    proxy_pass http://192.168.45.${(index % 250) + 1}:${3000 + (index % 1000)};
    proxy_http_version 1.1;
    proxy_set_header Host $host;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $connection_upgrade;
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_read_timeout 300s;
  }

  location ~ /\\.(?!well-known) { deny all; }
}
`
