import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EdgeMap } from '../src/edge/reading/contract.ts'
import { edgeReader } from '../src/edge/reading/edge-reader.ts'
import { formatMs, timed } from './measure.ts'

const HOSTS = 10_000
const LOOKUPS = 100_000
const MOST_MS = { reading: 1000, lookup: 1 }

/** Measures reading an edge of 10,000 hosts, as one large file and as one file per host. */
export async function benchReader(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-bench-'))
  try {
    const { one, many } = writeBoth(folder)
    const isFast = [await measure('one file', one), await measure('one file per host', many)]
    process.exitCode = isFast.every(Boolean) ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A separate function, so that the texts can be garbage-collected before the measurement. */
function writeBoth(folder: string): { one: string; many: string } {
  const texts = Array.from({ length: HOSTS }, (_, index) => siteText(hostName(index), index))
  return {
    one: writeSites(join(folder, 'one'), [texts.join('\n')]),
    many: writeSites(join(folder, 'many'), texts),
  }
}

async function measure(name: string, config: string): Promise<boolean> {
  const reader = edgeReader({ config, pidFile: '/nowhere' })
  const sites = join(config, '..', 'sites')
  await sleep(200) // The reader reads a younger file again, because it may still change.
  const reading = await costOf(() => reader.read())
  const unchanged = await costOf(() => reader.read())
  appendFileSync(join(sites, '0.conf'), '# changed\n')
  const changed = await costOf(() => reader.read())
  const map = await reader.read()
  const lookup = await lookups(map)
  process.stdout.write(`${map.hosts.length} hosts, ${name}\n`)
  const figures = { 'first reading': reading, 'nothing has changed': unchanged, 'one file has changed': changed }
  for (const [what, { ms, workMs }] of Object.entries(figures)) {
    process.stdout.write(`  ${what.padEnd(24)} ${formatMs(ms).padStart(12)} (${formatMs(workMs)} CPU time)\n`)
  }
  process.stdout.write(`  ${'one lookup'.padEnd(24)} ${formatMs(lookup).padStart(12)} (mean of ${LOOKUPS})\n`)
  return map.hosts.length === HOSTS && reading.ms < MOST_MS.reading && lookup < MOST_MS.lookup
}

/** Wall-clock time and CPU time of this thread. */
async function costOf(work: () => Promise<unknown>): Promise<{ ms: number; workMs: number }> {
  const before = process.threadCpuUsage()
  const ms = await timed(work)
  const { user, system } = process.threadCpuUsage(before)
  return { ms, workMs: (user + system) / 1000 }
}

async function lookups(map: EdgeMap): Promise<number> {
  const place = { address: '192.168.45.23', port: 443, tls: true }
  const ms = await timed(async () => {
    for (let index = 0; index < LOOKUPS; index += 1) {
      const host = hostName((index * 7919) % HOSTS)
      if (map.find(host)?.host !== host || map.answers(host, place)?.how !== 'exact')
        throw new Error(`The map does not have ${host}.`)
    }
  })
  return ms / LOOKUPS
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
