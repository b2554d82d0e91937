import type { Config } from '../../config/config.ts'
import { judgeProxyManager } from '../../edge/adopt/proxy-manager.ts'
import { judgeSites } from '../../edge/adopt/rehearsed.ts'
import { type Sites, sitesOfEdge, sitesOfFolder } from '../../edge/adopt/sites.ts'
import { takeOut } from '../../edge/adopt/take-out.ts'
import { testWithout } from '../../edge/adopt/test-without.ts'
import { refusalSentence } from '../../edge/reading/refusal.ts'
import { sentenceOf } from '../../model/errors.ts'
import type { Adoption, SiteFinding } from '../../model/options/adoption.ts'
import type { ForeignHosts } from '../../operate/import.ts'
import { systemClock } from '../../primitives/clock.ts'
import { UsageError } from '../../terminal/declare.ts'
import { siteWorldOf } from '../edges.ts'

/** `tests`: nginx tests what is left when a site is taken out. Then what it refuses cannot be adopted. */
export async function nginxSites(config: Config, folder: string | undefined, tests: boolean): Promise<ForeignHosts> {
  const edge = config.edges[config.servers.primary]
  if (folder === undefined && !edge)
    throw new UsageError("The Primary's nginx is not on this machine. Name a folder with its files.")
  if (folder !== undefined && tests)
    throw new UsageError('--test is for the nginx of this machine. Leave the folder out.')
  const sites = folder === undefined && edge ? sitesOfEdge(edge) : sitesOfFolder(folder ?? '')
  const world = { ...siteWorldOf(config), listen: edge?.listen }
  const adoptions = await judgeSites(sites, world, { binary: edge?.binary ?? 'nginx', clock: systemClock })
  if (!tests || !edge) return { adoptions, unreadable: sites.unreadable }
  const tested: Adoption[] = []
  for (const adoption of adoptions) tested.push(await testedOn({ ...edge, clock: systemClock }, sites, adoption))
  return { adoptions: tested, unreadable: sites.unreadable }
}

/** Every directive of the site of a host that does not stay as it is. Empty if the Primary's nginx has no such site. */
export async function findingsOf(config: Config, file: string, host: string): Promise<readonly SiteFinding[]> {
  if (!config.edges[config.servers.primary])
    throw new UsageError(`By ${file} the Primary's nginx is not on this machine. Leave --config out.`)
  const { adoptions } = await nginxSites(config, undefined, false)
  const found = adoptions.find((adoption) => adoption.host === host)
  return found ? [...found.changed, ...found.lost, ...found.refused] : []
}

async function testedOn(edge: TestedEdge, sites: Sites, adoption: Adoption): Promise<Adoption> {
  const { host, refused, files } = adoption
  if (refused.length > 0) return adoption
  const reason = await whyNotWithout(edge, sites, host)
  const finding = { directive: 'server', file: files[0] ?? '', line: 0 }
  return reason === undefined ? adoption : { ...adoption, refused: [{ ...finding, sentence: reason }] }
}

type TestedEdge = Parameters<typeof testWithout>[0]

async function whyNotWithout(edge: TestedEdge, sites: Sites, host: string): Promise<string | undefined> {
  const left = takeOut(host, sites, edge.config)
  if ('refused' in left) return left.refused
  const refusal = await testWithout(edge, left)
  return refusal && `nginx would not load what is left without it: ${refusalSentence(refusal)}.`
}

export async function proxyManagerHosts(config: Config, file: string): Promise<ForeignHosts> {
  const { readProxyManager } = await import('../../store/dialects/proxy-manager.ts')
  try {
    return { adoptions: judgeProxyManager(readProxyManager(file), file, siteWorldOf(config).serverAt), unreadable: [] }
  } catch (error) {
    throw new UsageError(`${file} is not a database of Nginx Proxy Manager that can be read: ${sentenceOf(error)}`)
  }
}
