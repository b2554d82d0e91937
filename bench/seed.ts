import { randomBytes, X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LabDescription } from '../lab/description.ts'
import type { Lab } from '../lab/lab.ts'
import { statePaths } from '../lab/state.ts'
import type { Pair } from '../src/edge/contract/change.ts'
import type { DnsChange, Plan } from '../src/model/exposure.ts'
import type { ChosenCertificate } from '../src/model/receipt.ts'
import { stepsToApply } from '../src/plan/steps.ts'
import { entryOf } from '../src/runs/steps/entry-of.ts'
import { openStore } from '../src/store/open.ts'
import { localAuthority } from './authority.ts'
import { writeEntries } from './edge-files.ts'
import { requestFor } from './exposures.ts'
import { BENCH_PLACE } from './place.ts'

const TTL = 60
const FENCE = 1

export interface SeedOptions {
  /** `own`: a certificate of a local authority for each host, installed as an administrator would. */
  readonly tls: 'wildcard' | 'own'
  /** Where the hosts lead. Default: the healthy backend of the lab. */
  readonly target?: string
}

/** The label of a seeded host. */
export const labelOf = (at: number): string => `h${at}`

/** The zone-file lines of the hosts that will be seeded. BIND reads them when the lab starts. */
export const seedRecords = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => [
    `${labelOf(at)} ${TTL} A ${BENCH_PLACE.network}.23`,
    `_drawbridge.${labelOf(at)} ${TTL} TXT "${ownerOf(at)}"`,
  ]).flat()

/**
 * Puts hosts into the store and into both edges in one go, as as many applies would have. The service must not run. The lab
 * must have been started with their `seedRecords`, and must have its wildcard certificate.
 */
export async function seedHosts(lab: Lab, count: number, { tls, target }: SeedOptions): Promise<void> {
  const { edges, zone } = lab.description
  const leadsTo = target ?? backendOf(lab.description)
  const certificateOf = tls === 'own' ? ownCertificates(lab) : wildcardOf(lab)
  const hosts = Array.from({ length: count }, (_, at) => {
    const plan = planOf(at, zone, edges.primary.address, leadsTo)
    return { plan, ...certificateOf(plan.host) }
  })
  const entries = hosts.map(({ plan, chosen }) => entryOf(plan, chosen))
  const pairs = new Set(hosts.map(({ pair }) => pair))
  for (const edge of [edges.primary, edges.secondary]) await writeEntries(edge, entries, [...pairs])
  await store(lab, hosts)
}

type SeededHost = {
  readonly plan: Plan
  readonly chosen: ChosenCertificate
}

/** Without runs and journals: no read of a host needs them. */
async function store(lab: Lab, hosts: readonly SeededHost[]): Promise<void> {
  const { service } = statePaths(lab.state)
  mkdirSync(service, { recursive: true, mode: 0o700 })
  const opened = await openStore({ kind: 'sqlite', file: join(service, 'drawbridge.db') })
  await opened.transaction(async (session) => {
    for (const { plan, chosen } of hosts) {
      const { host, planId, createdAt: since, changes } = plan
      const records = changes
        .filter((change): change is DnsChange => change.kind === 'dns')
        .map(({ name, type, ttl, value }) => ({ name, type, ttl, value }))
      await session.insertPlan(plan)
      const receipt = { version: 2, certificate: chosen, records } as const
      await session.insertExposure({ host, planId, state: 'applied', fence: FENCE, since, receipt })
    }
  })
  await opened.close()
}

const planIdOf = (at: number): string => `plan_${String(at).padStart(26, '0')}`
const exposureIdOf = (at: number): string => planIdOf(at).replace('plan_', 'exposure_')
const ownerOf = (at: number): string => `drawbridge ${exposureIdOf(at)}`

function planOf(at: number, zone: string, edge: string, target: string): Plan {
  const label = labelOf(at)
  const host = `${label}.${zone}`
  const record = { kind: 'dns', action: 'create', ttl: TTL } as const
  const changes: Plan['changes'] = [
    { kind: 'proxy', action: 'create', serverName: host, target, https: true },
    { ...record, name: host, type: 'A', value: edge },
    { ...record, name: `_drawbridge.${host}`, type: 'TXT', value: ownerOf(at) },
  ]
  return {
    planId: planIdOf(at),
    state: 'applied',
    host,
    url: `https://${host}:8443/`,
    request: requestFor(zone, label),
    checks: [],
    changes,
    steps: stepsToApply(true, changes, 'dns-01'),
    digest: 'seeded',
    createdAt: Date.now(),
    expiresAt: Date.now() + 86_400_000,
    createdBy: 'bench',
    network: 'self',
    exposureId: exposureIdOf(at),
    proof: randomBytes(32).toString('hex'),
  }
}

function backendOf({ backends }: LabDescription): string {
  const backend = backends.find(({ server }) => server === '25')
  if (!backend) throw new Error('The lab has no backend on server 25.')
  return `http://${backend.address}:${backend.port}`
}

type CertificateOf = (host: string) => { readonly pair: Pair; readonly chosen: ChosenCertificate }

function wildcardOf(lab: Lab): CertificateOf {
  const { certificates } = statePaths(lab.state)
  const files = { certificateFile: join(certificates, 'wildcard.pem'), keyFile: join(certificates, 'wildcard.key') }
  const [certificatePem, keyPem] = [readFileSync(files.certificateFile, 'utf8'), readFileSync(files.keyFile, 'utf8')]
  const x509 = new X509Certificate(certificatePem)
  const pair = { certificatePem, keyPem }
  const chosen = installed(x509, files, [`*.${lab.description.zone}`])
  return () => ({ pair, chosen })
}

/**
 * Installed and not issued: the local authority speaks no ACME, so nothing could renew its certificates. Certificate and key
 * share a file, because the service reads at most 10,000 files of a folder.
 */
function ownCertificates(lab: Lab): CertificateOf {
  const authority = localAuthority()
  const folder = join(statePaths(lab.state).certificates, 'own')
  mkdirSync(folder, { mode: 0o700 })
  return (host) => {
    const pair = authority.issue(host)
    const file = join(folder, `${host}.pem`)
    writeFileSync(file, `${pair.certificatePem}${pair.keyPem}`, { mode: 0o600 })
    const x509 = new X509Certificate(pair.certificatePem)
    return { pair, chosen: installed(x509, { certificateFile: file, keyFile: file }, [host]) }
  }
}

const installed = (
  { fingerprint256, validFromDate, validToDate, serialNumber }: X509Certificate,
  files: Pick<ChosenCertificate, 'certificateFile' | 'keyFile'>,
  names: readonly string[],
): ChosenCertificate => ({
  fingerprint: fingerprint256,
  ...files,
  source: 'installed',
  names,
  notBefore: validFromDate.getTime(),
  notAfter: validToDate.getTime(),
  ours: false,
  serial: serialNumber,
})
