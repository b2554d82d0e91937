import { randomBytes, randomInt, X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isPortFree } from '../../../lab/free-port.ts'
import { edgeFiles, startEdge } from '../../../lab/nginx.ts'
import { findProgram } from '../../../lab/program.ts'
import type { ChangeItem, ChangeOptions, EdgePoint, Pair } from '../../../src/edge/contract/change.ts'
import type { Edge } from '../../../src/edge/contract/edge.ts'
import { CURRENT } from '../../../src/edge/layout.ts'
import type { Entry } from '../../../src/edge/record/entry.ts'
import { canonicalEntry, certificateId } from '../../../src/edge/record/entry.ts'
import { entryProof } from '../../../src/edge/record/proof.ts'
import { type EdgeSettings, NONE_NAMED } from '../../../src/estate/settings.ts'
import { parseEndpoint } from '../../../src/model/address.ts'
import type { EntryOptions } from '../../../src/model/exposure.ts'
import { Shard, shardFile } from '../../../src/nginx/config/shards.ts'
import { PresentGeneration } from '../../../src/nginx/generations/present.ts'
import { localEdge } from '../../../src/nginx/local-edge.ts'
import { reloadNginx } from '../../../src/nginx/process/reload.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { randomNetwork } from '../network.ts'
import { tempFolder } from '../temp-folder.ts'
import { makeCertificate } from './openssl.ts'

export interface TestEdge extends EdgeSettings {
  readonly edge: Edge
  readonly http: string
  readonly https: string
  /** The master of its nginx. */
  readonly pid: number
  /** Does what an apply does. */
  place(site: Site, more?: More): Promise<void>
  remove(host: string, more?: More): Promise<void>
  /** Of what stands, without a change. */
  reload(signal?: AbortSignal): Promise<void>
  /** The number of the present generation. */
  generation(): number
  /** The hosts, or the ids of certificates, in a folder of the present generation. */
  keysOf(kind: string): string[]
  /** The absolute path of the file in which a host, or a certificate by its id, stands. */
  fileOf(kind: string, key: string): string
  /** Files that a validation or a swap failed to remove. */
  leftOvers(): string[]
  /** A self-signed certificate for these names. */
  certificate(...names: string[]): Promise<TestPair>
  stop(): Promise<void>
}

/** A certificate with its key, and how its fingerprint is written. */
export interface TestPair extends Pair {
  readonly fingerprint: string
}

/** An entry as tests write it. Without `proof` it gets one of its own. */
export interface Site {
  readonly host: string
  readonly planId: string
  readonly target: string
  readonly furtherTargets?: readonly string[]
  readonly options?: EntryOptions
  readonly certificate?: TestPair
  readonly proof?: string
}

/** How a change of a test differs from an ordinary one. */
export type More = ChangeOptions & Partial<Omit<ChangeItem, 'host' | 'wanted'>> & { readonly run?: string }

export function entryOf({ host, planId, target, furtherTargets = [], options, certificate, proof }: Site): Entry {
  return canonicalEntry({
    ...{ host, plan: planId },
    targets: [target, ...furtherTargets].map((url) => {
      const [, scheme, endpoint = ''] = /^(https?):\/\/(.+)$/.exec(url) ?? []
      return { scheme, ...parseEndpoint(endpoint, 0) }
    }),
    certificate: certificate ? certificateId(certificate.fingerprint) : null,
    ...(options && { options }),
    proof: entryProof(proof ?? randomBytes(32).toString('hex'), host),
  })
}

export const STORE = `store_${'0'.repeat(26)}`

/** Changes one host. Throws what the edge refuses. */
export async function changeHost(
  edge: Pick<Edge, 'change'>,
  host: string,
  wanted: ChangeItem['wanted'],
  { fence = { host, epoch: 0, number: 0 }, expected = 'any', mend, takesOver, run, ...options }: More = {},
): Promise<void> {
  const item = { host, wanted, fence, expected, mend, takesOver }
  const [verdict] = await edge.change(
    { items: [item], ...(run !== undefined && { run: { run, store: STORE } }) },
    options,
  )
  if (verdict?.state === 'refused') throw verdict.fault
}

/** Does what an apply does. */
export async function placeSite(edge: Pick<Edge, 'change' | 'certificate'>, site: Site, more?: More): Promise<void> {
  if (site.certificate) await edge.certificate(site.certificate)
  await changeHost(edge, site.host, entryOf(site), more)
}

/** Does something when the change is at this point. */
export const whenAt = (point: EdgePoint, work: () => unknown): ChangeOptions => ({
  onCrashPoint: (reached) => {
    if (reached === point) work()
  },
})

export const PLAN_ID = `plan_${'0'.repeat(26)}`

/** The file of a snippet of a test edge. A test writes what it likes there. */
export const snippetFile = ({ config }: Pick<EdgeSettings, 'config'>, id: string): string =>
  join(dirname(config), `${id}.snippet`)

/** A real, prepared nginx for one test. Visitors connect from 127.0.0.1. `snippets`: the ids that options may name. */
export async function startTestEdge(snippets: readonly string[] = []): Promise<TestEdge> {
  const folder = tempFolder()
  const free = await freeEdge(join(folder.path, 'edge'))
  const named = { ...NONE_NAMED, snippets: Object.fromEntries(snippets.map((id) => [id, snippetFile(free, id)])) }
  const settings = { ...free, named }
  const description = {
    ...settings,
    ...settings.ports,
    prefix: settings.prefix,
    hosts: join(settings.folder, 'current/backends'),
  }
  const daemon = await startEdge(description)
  const edge = localEdge(settings)
  return {
    ...settings,
    edge,
    http: `http://${settings.address}:${settings.ports.http}`,
    https: `https://${settings.address}:${settings.ports.https}`,
    pid: daemon.pid,
    place: (site, more) => placeSite(edge, site, more),
    remove: (host, more) => changeHost(edge, host, 'absent', more),
    reload: (signal) => reloadNginx(settings, signal),
    generation: () => new PresentGeneration(settings.folder).number ?? 0,
    keysOf: (kind) => keysIn(join(settings.folder, CURRENT), kind),
    fileOf: (kind, key) => join(settings.folder, CURRENT, shardFile(kind, key)),
    leftOvers: () => [
      ...readdirSync(join(settings.folder, '.staging')),
      ...readdirSync(dirname(settings.config)).filter((name) => name.startsWith('.')),
    ],
    certificate: (...names) => certificateFor(folder.path, names),
    async stop() {
      await daemon.stop()
      folder[Symbol.dispose]()
    },
  }
}

/** The hosts, or the ids of certificates, in a folder of a generation. */
const keysIn = (generation: string, kind: string): string[] =>
  readdirSync(join(generation, kind))
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) => [...new Shard(`${kind}/${name}`, readFileSync(join(generation, kind, name), 'utf8')).keys])
    .toSorted()

async function freeEdge(prefix: string): Promise<EdgeSettings & { prefix: string }> {
  const address = `${randomNetwork()}.23`
  if (!(await isPortFree(address, 8080))) return freeEdge(prefix)
  const at = (...parts: string[]) => join(prefix, ...parts)
  const folder = at('drawbridge')
  const hosts = join(folder, 'current/backends')
  const paths = {
    prefix,
    config: at('nginx.conf'),
    folder,
    hosts,
    errorLog: at('logs', 'error.log'),
    pidFile: at('nginx.pid'),
  }
  return {
    server: '23',
    ...edgeFiles({ server: '23', address, http: 8080, https: 8443, ...paths }),
    binary: findProgram('nginx', 'nginx'),
    address,
    listen: [address],
    ports: { http: 8080, https: 8443 },
    clock: systemClock,
  }
}

/** A self-signed certificate for these names. */
export async function certificateFor(folder: string, names: readonly string[]): Promise<TestPair> {
  const file = join(folder, `${randomInt(1_000_000_000)}`)
  await makeCertificate({ certificate: `${file}.crt`, key: `${file}.key`, names: names.map((name) => `DNS:${name}`) })
  const certificatePem = readFileSync(`${file}.crt`, 'utf8')
  const { fingerprint256: fingerprint } = new X509Certificate(certificatePem)
  return { fingerprint, certificatePem, keyPem: readFileSync(`${file}.key`, 'utf8') }
}
