import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { EdgeDescription } from '../../../../lab/description.ts'
import { isServing, masterPid, servingWorkers } from '../../../../src/nginx/process/nginx-workers.ts'
import { updateZone } from '../../dns/lab-dns.ts'
import type { TestLab } from '../../lab/lab.ts'
import { until } from '../../until.ts'
import { makeCertificate } from '../openssl.ts'
import { visit } from '../visitor.ts'
import { SITE_STYLES } from './site-styles.ts'

/** Lets both edges of a lab include hand-written sites, and installs a certificate for those with HTTPS. */
export async function includeSites(lab: TestLab): Promise<void> {
  const at = (name: string) => join(lab.state, 'certificates', name)
  await makeCertificate({ certificate: at('wildcard.pem'), key: at('wildcard.key'), names: ['DNS:*.lab.test'] })
  for (const edge of Object.values(lab.description.edges)) {
    const folder = dirname(edge.config)
    for (const name of ['available', 'enabled']) mkdirSync(join(folder, name))
    const main = readFileSync(edge.config, 'utf8')
    writeFileSync(
      edge.config,
      main.replace('  include drawbridge', `  include ${folder}/enabled/*;\n  include drawbridge`),
    )
  }
}

/** The file of a host's site. nginx reads it through a link in `enabled`. */
export const siteFile = (edge: EdgeDescription, host: string) => join(dirname(edge.config), 'available', host)

export interface WantedSite {
  readonly host: string
  /** The index of one of SITE_STYLES. */
  readonly style: number
  /** The port of its backend on server 25. Default: that of the sample backend. */
  readonly port?: number
}

/** Writes sites and a record of each on both edges, and waits until they are served. Resolves with the texts by edge. */
export async function writeSites(lab: TestLab, sites: readonly WantedSite[]): Promise<Record<string, string>[]> {
  const backend = lab.description.backends.find(({ server }) => server === '25')
  if (!backend) throw new Error('The lab has no backend on server 25.')
  const at = (name: string) => join(lab.state, 'certificates', name)
  const files = {
    certificateFile: at('wildcard.pem'),
    keyFile: at('wildcard.key'),
  }
  const texts = sites.map((): Record<string, string> => ({}))
  for (const edge of Object.values(lab.description.edges)) {
    for (const [index, { host, style, port = backend.port }] of sites.entries()) {
      const { http, https } = edge
      const text =
        SITE_STYLES[style]?.text({ host, http, https, backend: `${backend.address}:${port}`, ...files }) ?? ''
      // The servers of Drawbridge listen on the address of the edge, which nginx prefers. Both edges are on one machine.
      const own = text.replaceAll(/listen (\d+)/g, `listen ${edge.address}:$1`).replaceAll(/ *listen \[::\].*\n/g, '')
      Object.assign(texts[index] ?? {}, { [edge.server]: own })
      writeFileSync(siteFile(edge, host), own)
      symlinkSync(join('..', 'available', host), join(dirname(edge.config), 'enabled', host))
    }
  }
  await Promise.all(Object.values(lab.description.edges).map((edge) => servedBy(edge, sites)))
  updateZone(lab, ...sites.map(({ host }) => `update add ${host} 77 A 192.0.2.7`))
  return texts
}

/** Reloads nginx, and waits until it serves these sites and no worker of before accepts visitors any more. */
async function servedBy(edge: EdgeDescription, sites: readonly WantedSite[]): Promise<void> {
  const master = masterPid(edge.pidFile) ?? 0
  const former = servingWorkers(master)
  process.kill(master, 'SIGHUP')
  const isReloaded = () => servingWorkers(master, former).length > 0 && !former.some(isServing)
  await until(`the workers of edge ${edge.server} are new`, isReloaded)
  for (const { host, style } of sites) {
    const { status } = await visit(edge, { host, path: '/healthz' })
    if (status !== (SITE_STYLES[style]?.tls ? 301 : 200)) throw new Error(`${host} is answered with ${status}.`)
  }
}
