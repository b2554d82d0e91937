import { createHash, X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LabDescription } from '../lab/description.ts'
import type { Lab, LabOptions } from '../lab/lab.ts'
import { statePaths } from '../lab/state.ts'
import { loadPair } from '../src/certificates/stock/pair.ts'
import type { Hosts } from '../src/client/bodies.ts'
import { allHosts } from '../src/client/pages.ts'
import { renderSite } from '../src/edge/config/render-site.ts'
import type { EdgeFile } from '../src/edge/contract.ts'
import { masterPid } from '../src/edge/process/nginx-workers.ts'
import type { Plan } from '../src/model/exposure.ts'
import type { ChosenCertificate } from '../src/model/receipt.ts'
import { openStore } from '../src/store/open.ts'
import type { StoreSession } from '../src/store/ports/store.ts'
import { Caller } from './caller.ts'
import { BENCH_PLACE } from './place.ts'
import { makeWildcard } from './wildcard.ts'

const HOSTS = 10_000
const EVERY_SECONDS = 30
const WARM_UP_MS = 45_000
const FIRST_CHECKS_MS = 600_000
const MEASURE_MS = 90_000
const MOST_SHARE = 0.5
const MOST_MB = 200

const labelOf = (i: number): string => `h${i}`

/** The service is started later, when its hosts exist. */
export const monitorLab: Partial<LabOptions> = { service: false, records: zoneLines() }

/** Measures the cost of monitoring 10,000 exposures with TLS on a real nginx, each in DNS and in the store. */
export async function benchMonitor(lab: Lab): Promise<void> {
  await exposeAll(lab)
  await lab.restartService((config) => ({ ...config, monitor: { everySeconds: EVERY_SECONDS } }))
  const { pids } = lab.description
  const pid = pids.service
  if (pid === undefined) throw new Error('The service does not run.')
  print(`${HOSTS} hosts with TLS, checked every ${EVERY_SECONDS} s. The first check of all hosts takes a while.`)
  await firstChecks(lab.description)
  await sleep(WARM_UP_MS)
  const before = cpuSeconds(pid)
  const started = performance.now()
  let mostMb = 0
  while (performance.now() - started < MEASURE_MS) {
    await sleep(1_000)
    mostMb = Math.max(mostMb, residentMb(pid))
  }
  const share = (cpuSeconds(pid) - before) / ((performance.now() - started) / 1000)
  await report(lab.description, share, mostMb)
}

async function firstChecks(lab: LabDescription): Promise<void> {
  const caller = new Caller(lab)
  const giveUpAt = Date.now() + FIRST_CHECKS_MS
  // During the first checks the service can be too busy to answer.
  const running = () =>
    caller
      .get<Answer>('/api/hosts?limit=1')
      .then(({ counts }) => counts.RUNNING)
      .catch(() => undefined)
  while ((await running()) !== HOSTS) {
    if (Date.now() > giveUpAt) throw new Error(`Not all hosts were RUNNING after ${FIRST_CHECKS_MS / 1000} s.`)
    await sleep(5_000)
  }
  caller.close()
}

async function report(lab: LabDescription, share: number, mb: number): Promise<void> {
  const caller = new Caller(lab)
  const { counts, hosts, at } = await allHosts(
    (query) => caller.get<Hosts>(`/api/hosts?${new URLSearchParams(query)}`),
    {},
  )
  caller.close()
  const late = hosts.filter(
    ({ checkedAt }) => Date.parse(at) - Date.parse(checkedAt ?? '') > 1.5 * EVERY_SECONDS * 1000,
  )
  const isSeen = counts.RUNNING === HOSTS && hosts.every(({ checkedAt }) => checkedAt !== null)
  print(`badges                ${JSON.stringify(counts)}`)
  print(`checked too long ago  ${late.length}`)
  print(`share of one core     ${(100 * share).toFixed(1)} %    (target: under ${100 * MOST_SHARE} %)`)
  print(`resident memory       ${mb.toFixed(0)} MB   (target: under ${MOST_MB} MB)`)
  const isHeld = isSeen && late.length === 0 && share < MOST_SHARE && mb < MOST_MB
  print(isHeld ? 'Target met.' : 'Target NOT met.')
  process.exitCode = isHeld ? 0 : 1
}

interface Answer {
  readonly counts: Record<string, number>
}

/** Writes the files and store rows that 10,000 applies would write. */
async function exposeAll(lab: Lab): Promise<void> {
  const { edges, zone, backends } = lab.description
  const paths = statePaths(lab.state)
  await makeWildcard(zone, paths.certificates)
  const wildcard = wildcardIn(paths.certificates, zone)
  const certificate = await loadPair(wildcard)
  const { primary } = edges
  const listening = { listen: [primary.address], ports: { http: primary.http, https: primary.https } }
  const backend = backends.find(({ server }) => server === '25')
  if (!backend) throw new Error('The lab has no backend on server 25.')
  const target = `http://${backend.address}:${backend.port}`
  mkdirSync(paths.service, { recursive: true, mode: 0o700 })
  const store = await openStore({ kind: 'sqlite', file: join(paths.service, 'drawbridge.db') })
  await store.transaction(async (session) => {
    for (let i = 0; i < HOSTS; i += 1) {
      const plan = planOf(i, zone, primary.address, target)
      const files = renderSite({ host: plan.host, planId: plan.planId, target, certificate }, listening)
      write(dirname(primary.hosts), files, i === 0)
      await storeExposure(session, plan, files, wildcard)
    }
  })
  await store.close()
  const master = masterPid(primary.pidFile)
  if (master !== undefined) process.kill(master, 'SIGHUP')
}

async function storeExposure(
  session: StoreSession,
  plan: Plan,
  files: readonly EdgeFile[],
  certificate: ChosenCertificate,
): Promise<void> {
  const { host, planId, createdAt: since } = plan
  await session.insertPlan(plan)
  const hashes = files.map(({ path, content }) => ({
    path,
    hash: createHash('sha256')
      .update(content ?? '')
      .digest('hex'),
  }))
  await session.insertExposure({
    host,
    planId,
    state: 'applied',
    fence: 1,
    since,
    receipt: { version: 2, certificate, files: hashes, records: [] },
  })
}

/** All hosts share one certificate, so its files are written once. */
function write(folder: string, files: readonly EdgeFile[], withCertificate: boolean): void {
  for (const { path, content, secret } of files) {
    const isShared = path.startsWith('tls/certificates') || path.startsWith('tls/keys')
    if (!isShared || withCertificate) writeFileSync(join(folder, path), content ?? '', { mode: secret ? 0o600 : 0o644 })
  }
}

function planOf(i: number, zone: string, edge: string, target: string): Plan {
  const host = `${labelOf(i)}.${zone}`
  const planId = `plan_${String(i).padStart(26, '0')}`
  const record = { kind: 'dns', action: 'create', ttl: 60 } as const
  return {
    planId,
    state: 'applied',
    host,
    url: `https://${host}:8443/`,
    request: { zone, subdomain: labelOf(i), server: '25', port: 3000, health: '/healthz', tls: true },
    checks: [],
    changes: [
      { kind: 'proxy', action: 'create', serverName: host, target, https: true },
      { ...record, name: host, type: 'A', value: edge },
      { ...record, name: `_drawbridge.${host}`, type: 'TXT', value: planId },
    ],
    digest: 'bench',
    createdAt: Date.now(),
    expiresAt: Date.now() + 86_400_000,
    createdBy: 'bench',
  }
}

function zoneLines(): string[] {
  return Array.from({ length: HOSTS }, (_, i) => [
    `${labelOf(i)} 60 A ${BENCH_PLACE.network}.23`,
    `_drawbridge.${labelOf(i)} 60 TXT "plan_${String(i).padStart(26, '0')}"`,
  ]).flat()
}

function wildcardIn(folder: string, zone: string): ChosenCertificate {
  const [certificateFile, keyFile] = [join(folder, 'wildcard.pem'), join(folder, 'wildcard.key')]
  const { fingerprint256, validFromDate, validToDate } = new X509Certificate(readFileSync(certificateFile))
  return {
    fingerprint: fingerprint256,
    certificateFile,
    keyFile,
    source: 'installed',
    names: [`*.${zone}`],
    notBefore: validFromDate.getTime(),
    notAfter: validToDate.getTime(),
    ours: false,
  }
}

/** User and system time of a process: fields 14 and 15 of `stat` in proc(5), in hundredths of a second. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** In `status` of proc(5), kB means 1,024 bytes. */
const residentMb = (pid: number): number =>
  (Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024) / 1e6

const print = (text: string): boolean => process.stdout.write(`${text}\n`)
