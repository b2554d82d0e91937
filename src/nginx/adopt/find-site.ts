import { createHash } from 'node:crypto'
import { readFileSync, realpathSync } from 'node:fs'
import { EdgeFault } from '../../edge/contract/fault.ts'
import { namesOf } from '../../estate/adopt/judge/site-blocks.ts'
import type { SiteWorld } from '../../estate/adopt/judge/site-world.ts'
import type { SiteDirective } from '../../estate/adopt/site-text.ts'
import { type GivenWorld, type Sites, serversOf, sitesOfEdge } from '../../estate/adopt/sites.ts'
import { withoutBlocks } from '../../estate/adopt/take-out.ts'
import type { EdgeSettings } from '../../estate/settings.ts'
import type { FoundSite, NamedFinding } from '../../model/options/adoption.ts'
import { judgeHosts } from './rehearsed.ts'

/** One file of a site, before and after its server blocks were taken out. */
export interface SiteFile {
  /** Absolute, without links. */
  readonly file: string
  /** The paths by which nginx includes it. */
  readonly included: readonly string[]
  readonly before: string
  readonly after: string
}

/**
 * The deployment target at an address of a site. The loopback address means the edge's own server, unless a target has that
 * address.
 */
export const targetAt =
  (targets: readonly { readonly server: string; readonly address: string }[], own: string): SiteWorld['serverAt'] =>
  (address) => {
    const isLoopback = address.startsWith('127.') || address === '::1'
    const exact = targets.find((target) => target.address === address)
    return (exact ?? targets.find(({ server }) => isLoopback && server === own))?.server
  }

/** A digest of the server blocks of a host. */
const textDigest = (blocks: readonly SiteDirective[]): string =>
  sha256(JSON.stringify(blocks.map(({ path, start, end }) => [path, readFileSync(path, 'utf8').slice(start, end)])))

/** The site of a host. Undefined if no hand-written server block names the host. */
export async function findSite(
  settings: Pick<EdgeSettings, 'config' | 'folder' | 'listen' | 'binary' | 'clock'>,
  host: string,
  world: Omit<GivenWorld, 'listen'>,
): Promise<FoundSite | undefined> {
  const sites = sitesOfEdge(settings, host)
  const servers = serversOf(host, sites)
  if (servers.length === 0) return undefined
  const [adoption] = await judgeHosts([host], sites, { ...world, listen: settings.listen }, settings)
  if (!adoption) return undefined
  const { carried, changed, lost, refused, ...site } = adoption
  const why = whyNotTakenOut(host, sites, settings.config)
  const { backend, tls, options } = site
  return {
    ...{ backend, tls, options },
    carried: carried.length,
    changed: changed.map(named),
    lost: lost.map(named),
    refused: [...refused.map(named), ...(why === undefined ? [] : [{ directive: 'server', sentence: why }])],
    text: textDigest(servers),
    digest: sha256(JSON.stringify([servers.map(treeOf), sites.http.map(treeOf), backend, tls, options])),
    blocks: servers.map(({ path, line }) => ({ file: path, line })),
  }
}

const named = ({ directive, sentence }: NamedFinding): NamedFinding => ({ directive, sentence })

/**
 * The files of a site without its server blocks. Throws `change_invalid` if the blocks cannot be taken out, and `changed_meanwhile`
 * if their text is not the expected one. Empty without a site.
 */
export function filesWithoutSite(
  settings: Pick<EdgeSettings, 'config' | 'folder'>,
  host: string,
  expected?: string,
): readonly SiteFile[] {
  const sites = sitesOfEdge(settings, host)
  const why = whyNotTakenOut(host, sites, settings.config)
  if (why !== undefined) throw new EdgeFault('change_invalid', `The site of ${host} cannot be taken out. ${why}`)
  const servers = serversOf(host, sites)
  if (expected !== undefined && textDigest(servers) !== expected)
    throw new EdgeFault('changed_meanwhile', `The site of ${host} was changed since the plan was made.`)
  const byFile = Map.groupBy(servers, ({ path }) => realpathSync(path))
  return [...byFile].map(([file, blocks]) => {
    const before = readFileSync(file, 'utf8')
    const after =
      withoutBlocks(before, blocks) ??
      `# The site of ${host} was adopted by Drawbridge. Nothing else was in this file.\n`
    return { file, included: [...new Set(blocks.map(({ path }) => path))], before, after }
  })
}

function whyNotTakenOut(host: string, sites: Sites, main: string): string | undefined {
  const blocks = serversOf(host, sites)
  const places = blocks.map(({ path, start }) => `${realpathSync(path)} ${start}`)
  if (blocks.some(({ path }) => realpathSync(path) === realpathSync(main)))
    return 'Its server block stands in the main file of nginx.'
  if (new Set(places).size < blocks.length) return 'Its file is included more than once.'
  if (blocks.some((block) => namesOf(block).some((name) => name !== host)))
    return 'The same block serves other names as well.'
  if (blocks.some(({ path }) => !isText(readFileSync(path)))) return 'Its file is not written in UTF-8.'
  return undefined
}

const isText = (content: Buffer): boolean => Buffer.from(content.toString('utf8')).equals(content)

const treeOf = ({ name, args, path, block }: SiteDirective): unknown => [name, args, path, block?.map(treeOf)]

export const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
