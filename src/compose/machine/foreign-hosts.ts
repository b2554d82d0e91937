import type { Config } from '../../config/config.ts'
import { isHost } from '../../edge/record/entry.ts'
import { remoteSites } from '../../edge/remote/remote-view.ts'
import { judgeProxyManager } from '../../estate/adopt/proxy-manager.ts'
import { type Sites, sitesOfEdge, sitesOfFolder } from '../../estate/adopt/sites.ts'
import { takeOut } from '../../estate/adopt/take-out.ts'
import { refusalSentence } from '../../estate/reading/refusal.ts'
import { sentenceOf } from '../../model/errors.ts'
import { quoteText } from '../../model/escape-text.ts'
import type { Adoption, NamedFinding, SiteFinding } from '../../model/options/adoption.ts'
import { judgeSites } from '../../nginx/adopt/rehearsed.ts'
import { testWithout } from '../../nginx/adopt/test-without.ts'
import type { ForeignHosts } from '../../operate/import.ts'
import { systemClock } from '../../primitives/clock.ts'
import { createLog } from '../../runtime/log.ts'
import { UsageError } from '../../terminal/declare.ts'
import { agentClient, siteWorldOf, targetsOf } from '../edges.ts'
import { lazyTrust } from './doctor.ts'

/** `tests`: nginx tests what is left when a site is taken out. Then what it refuses cannot be adopted. */
export async function nginxSites(config: Config, folder: string | undefined, tests: boolean): Promise<ForeignHosts> {
  const edge = config.edges[config.servers.primary]
  if (tests && (folder !== undefined || !edge))
    throw new UsageError('--test is for an nginx that the service changes itself. Leave it out.')
  if (folder === undefined && !edge) return sitesOfAgent(config)
  const sites = folder === undefined && edge ? sitesOfEdge(edge) : sitesOfFolder(folder ?? '')
  const world = { ...siteWorldOf(config), listen: edge?.listen }
  const adoptions = await judgeSites(sites, world, { binary: edge?.binary ?? 'nginx', clock: systemClock })
  if (!tests || !edge) return { adoptions, unreadable: sites.unreadable }
  const tested: Adoption[] = []
  for (const adoption of adoptions) tested.push(await testedOn({ ...edge, clock: systemClock }, sites, adoption))
  return { adoptions: tested, unreadable: sites.unreadable }
}

/**
 * The hand-written sites of the Primary, as its agent judges them. It tells directives by name, without their lines, and nothing at all
 * unless edge.yaml lets sites be adopted.
 */
async function sitesOfAgent(config: Config): Promise<ForeignHosts> {
  const server = config.servers.primary
  const agent = config.agents[server]
  if (!agent) throw new UsageError("The Primary's nginx is not on this machine. Name a folder with its files.")
  const trust = lazyTrust(config, systemClock)
  const client = agentClient({ server, agent, trust, clock: systemClock }, createLog('silent', []))
  try {
    const { hosts, broken } = await client.look('served', { since: null })
    const ours = new Set((await client.call('list', {})).hosts.map(({ host }) => host))
    const find = remoteSites(client, targetsOf(config.servers))
    const adoptions: Adoption[] = []
    for (const host of new Set(hosts.map((one) => one.host))) {
      if (ours.has(host) || !isHost(host)) continue
      const answer = await find(host)
      if (answer.kind !== 'none') adoptions.push(toldAdoption(host, server, answer))
    }
    const unreadable = broken.map(({ path, line, sentence }) => ({ file: path, line, reason: quoteText(sentence) }))
    return { adoptions: adoptions.toSorted((one, other) => (one.host < other.host ? -1 : 1)), unreadable }
  } finally {
    client.reconnect()
  }
}

type Told = Exclude<Awaited<ReturnType<ReturnType<typeof remoteSites>>>, { kind: 'none' }>

function toldAdoption(host: string, server: string, told: Told): Adoption {
  if (told.kind !== 'site') {
    const sentence = `Edge ${server} tells nothing about it: set adopt.enabled to true in its edge.yaml and restart drawbridge-edge.`
    const refused = [{ directive: 'server', file: 'edge.yaml', line: 0, sentence }]
    return { host, tls: false, files: [], carried: [], changed: [], lost: [], refused }
  }
  const { backend, tls, options, blocks } = told
  const [first] = blocks
  const at = (findings: readonly NamedFinding[]): SiteFinding[] =>
    findings.map((finding) => ({ ...finding, file: first?.file ?? '', line: 0 }))
  const found = { changed: at(told.changed), lost: at(told.lost), refused: at(told.refused) }
  return { host, backend, tls, options, files: blocks.map(({ file }) => file), carried: [], ...found }
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
