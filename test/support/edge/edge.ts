import { randomInt, X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isPortFree } from '../../../lab/free-port.ts'
import { edgeFiles, startEdge } from '../../../lab/nginx.ts'
import { findProgram } from '../../../lab/program.ts'
import { mainPlaceOf } from '../../../src/edge/config/gathered.ts'
import { CURRENT } from '../../../src/edge/config/layout.ts'
import type { Edge, EdgeFile, EdgePoint, EdgeProposal, Site, SitePair } from '../../../src/edge/contract.ts'
import { PresentGeneration } from '../../../src/edge/generations/present.ts'
import { localEdge } from '../../../src/edge/local.ts'
import { reloadNginx } from '../../../src/edge/process/reload.ts'
import type { EdgeSettings } from '../../../src/edge/settings.ts'
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
  place(site: Site, more?: Partial<EdgeProposal>): Promise<void>
  remove(host: string, more?: Partial<EdgeProposal>): Promise<void>
  change(files: readonly EdgeFile[], more?: Partial<EdgeProposal>): Promise<void>
  /** Of what stands, without a change. */
  reload(signal?: AbortSignal): Promise<void>
  /** The number of the present generation. */
  generation(): number
  /** The hosts, or the ids of certificates, in a folder of the present generation. */
  keysOf(kind: string): string[]
  /** The absolute path of the gathered file in which a file of the edge stands. */
  fileOf(path: string): string
  /** Files that a validation or a swap failed to remove. */
  leftOvers(): string[]
  /** A self-signed certificate for these names. */
  certificate(...names: string[]): Promise<SitePair>
  stop(): Promise<void>
}

/** A change of these files, by what stands when its generation begins. */
export const proposalOf = (
  edge: Edge,
  propose: () => Promise<readonly EdgeFile[]>,
  more: Partial<EdgeProposal> = {},
): EdgeProposal => ({
  propose: async () => {
    const files = await propose()
    return { files, expected: await edge.hashFiles(files.map(({ path }) => path)) }
  },
  assertHeld: () => undefined,
  ...more,
})

/** Does something when the change is at this point. */
export const whenAt = (point: EdgePoint, work: () => unknown): Partial<EdgeProposal> => ({
  reached: (reached) => {
    if (reached === point) work()
  },
})

export const PLAN_ID = `plan_${'0'.repeat(26)}`

/** A real, prepared nginx for one test. Visitors connect from 127.0.0.1. */
export async function startTestEdge(): Promise<TestEdge> {
  const folder = tempFolder()
  const settings = await freeEdge(join(folder.path, 'edge'))
  const description = {
    ...settings,
    ...settings.ports,
    prefix: settings.prefix,
    hosts: join(settings.folder, 'current/backends'),
  }
  const daemon = await startEdge(description)
  const edge = localEdge(settings)
  const change = async (propose: () => Promise<readonly EdgeFile[]>, more: Partial<EdgeProposal> = {}) =>
    edge.change(proposalOf(edge, propose, more))
  return {
    ...settings,
    edge,
    http: `http://${settings.address}:${settings.ports.http}`,
    https: `https://${settings.address}:${settings.ports.https}`,
    pid: daemon.pid,
    place: (site, more) => change(() => edge.filesFor(site), more),
    remove: (host, more) => change(() => edge.filesWithout(host), more),
    change: (files, more) => change(async () => files, more),
    reload: (signal) => reloadNginx(settings, signal),
    generation: () => new PresentGeneration(settings.folder).number ?? 0,
    keysOf: (kind) => [...new PresentGeneration(settings.folder).keysOf(kind)].toSorted(),
    fileOf: (path) => join(settings.folder, CURRENT, mainPlaceOf(path).file),
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
export async function certificateFor(folder: string, names: readonly string[]): Promise<SitePair> {
  const file = join(folder, `${randomInt(1_000_000_000)}`)
  await makeCertificate({ certificate: `${file}.crt`, key: `${file}.key`, names: names.map((name) => `DNS:${name}`) })
  const certificatePem = readFileSync(`${file}.crt`, 'utf8')
  const { fingerprint256: fingerprint } = new X509Certificate(certificatePem)
  return { fingerprint, certificatePem, keyPem: readFileSync(`${file}.key`, 'utf8') }
}
