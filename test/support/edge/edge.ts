import { randomInt, X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isPortFree } from '../../../lab/free-port.ts'
import { edgeFiles, startEdge } from '../../../lab/nginx.ts'
import { findProgram } from '../../../lab/program.ts'
import type { Edge, EdgeFile, Site, SiteCertificate } from '../../../src/edge/contract.ts'
import { localEdge } from '../../../src/edge/local.ts'
import type { EdgeSettings } from '../../../src/edge/settings.ts'
import { randomNetwork } from '../network.ts'
import { tempFolder } from '../temp-folder.ts'
import { makeCertificate } from './openssl.ts'

export interface TestEdge extends EdgeSettings {
  readonly edge: Edge
  readonly http: string
  readonly https: string
  /** The master of its nginx. */
  readonly pid: number
  /** Does what an apply does: read, validate, swap, reload. */
  place(site: Site): Promise<void>
  remove(host: string): Promise<void>
  /** Files that a validation or a swap failed to remove. */
  leftOvers(): string[]
  /** A self-signed certificate for these names. */
  certificate(...names: string[]): Promise<SiteCertificate>
  stop(): Promise<void>
}

export const PLAN_ID = `plan_${'0'.repeat(26)}`

/** A real, prepared nginx for one test. Visitors connect from 127.0.0.1. */
export async function startTestEdge(): Promise<TestEdge> {
  const folder = tempFolder()
  const settings = await freeEdge(join(folder.path, 'edge'))
  const description = { ...settings, ...settings.ports, prefix: settings.prefix, hosts: join(settings.folder, 'hosts') }
  const daemon = await startEdge(description)
  const edge = localEdge(settings)
  const change = async (files: readonly EdgeFile[]) => {
    const expected = await edge.hashFiles(files.map(({ path }) => path))
    await edge.validate({ files, expected })
    await edge.swap({ files, expected })
    await edge.reload()
  }
  return {
    ...settings,
    edge,
    http: `http://${settings.address}:${settings.ports.http}`,
    https: `https://${settings.address}:${settings.ports.https}`,
    pid: daemon.pid,
    place: async (site) => change(await edge.filesFor(site)),
    remove: async (host) => change(await edge.filesWithout(host)),
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
  const hosts = at('drawbridge', 'hosts')
  const paths = { prefix, config: at('nginx.conf'), hosts, errorLog: at('logs', 'error.log'), pidFile: at('nginx.pid') }
  return {
    server: '23',
    ...edgeFiles({ server: '23', address, http: 8080, https: 8443, ...paths }),
    binary: findProgram('nginx', 'nginx'),
    address,
    listen: [address],
    ports: { http: 8080, https: 8443 },
  }
}

async function certificateFor(folder: string, names: readonly string[]): Promise<SiteCertificate> {
  const file = join(folder, `${randomInt(1_000_000_000)}`)
  await makeCertificate({ certificate: `${file}.crt`, key: `${file}.key`, names: names.map((name) => `DNS:${name}`) })
  const certificatePem = readFileSync(`${file}.crt`, 'utf8')
  const { fingerprint256: fingerprint } = new X509Certificate(certificatePem)
  return { fingerprint, certificatePem, keyPem: readFileSync(`${file}.key`, 'utf8') }
}
