import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseName } from '../../model/dns-name.ts'
import type { Adoption } from '../../model/options/adoption.ts'
import { EdgeFault } from '../contract.ts'
import { pathsOf } from '../reading/include-drafts.ts'
import { UnreadableText } from '../reading/text/tokens.ts'
import type { EdgeSettings } from '../settings.ts'
import { judgeSite, namesOf, type SiteWorld } from './judge-site.ts'
import { type Included, readSite, type SiteDirective } from './site-text.ts'

/** The hand-written server blocks of an nginx, and the upstreams that they may name. */
export interface Sites {
  readonly servers: readonly SiteDirective[]
  readonly upstreams: ReadonlyMap<string, readonly string[]>
  /** Files that could not be read, with a clause that has no text of the file. */
  readonly unreadable: readonly { readonly file: string; readonly line: number | null; readonly reason: string }[]
}

const MAX_FILES = 20_000
/** Files that include each other have no end. */
const MAX_DEPTH = 32
const MAX_BYTES = 16 * 1024 * 1024

/** The sites of an edge, in the order in which nginx reads them. What Drawbridge wrote itself is left out. */
export function sitesOfEdge({ config, folder }: Pick<EdgeSettings, 'config' | 'folder'>): Sites {
  const files = new SiteFiles(dirname(config), (path) => path.startsWith(`${folder}/`))
  return sitesIn(files.read(config), files)
}

/** The sites in the files of a folder, as if each were included in an http block. Follows links, as nginx does. */
export function sitesOfFolder(folder: string): Sites {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new EdgeFault('unavailable', `${folder} is not a folder that can be read.`)
  const files = new SiteFiles(folder, () => false)
  const seen = new Set<string>()
  const directives = filesBelow(folder).flatMap((path) => {
    // A file in sites-available and its link in sites-enabled are one site.
    const real = realpathSync(path)
    if (seen.has(real)) return []
    seen.add(real)
    return files.read(path)
  })
  return sitesIn(directives, files)
}

/** Every host that the sites name, with what becomes of it. */
export const judgeSites = (sites: Sites, world: Omit<SiteWorld, 'upstreams'>): Adoption[] =>
  hostsIn(sites).map((host) => judgeHost(host, sites, world))

const judgeHost = (host: string, sites: Sites, world: Omit<SiteWorld, 'upstreams'>): Adoption =>
  judgeSite(host, serversOf(host, sites), { ...world, upstreams: sites.upstreams })

/** The server blocks that name a host, exactly. */
export const serversOf = (host: string, { servers }: Sites): readonly SiteDirective[] =>
  servers.filter((server) => namesOf(server).includes(host))

/** Names that are patterns belong to no host. */
const hostsIn = ({ servers }: Sites): string[] =>
  [...new Set(servers.flatMap(namesOf))].filter((name) => name.includes('.') && parseName(name) === name).toSorted()

function sitesIn(directives: readonly SiteDirective[], { unreadable }: SiteFiles): Sites {
  const inside = directives.flatMap(({ name, block }) => (name === 'http' ? (block ?? []) : []))
  const all = [...directives, ...inside]
  const upstreams = new Map(
    all.flatMap(({ name, args: [upstream = ''], block = [] }) =>
      name === 'upstream'
        ? [
            [
              upstream,
              block.flatMap((each) =>
                each.name === 'server' && !each.args.includes('down') ? (each.args[0] ?? '') : [],
              ),
            ] as const,
          ]
        : [],
    ),
  )
  return { servers: all.filter(({ name, block }) => name === 'server' && block), upstreams, unreadable }
}

/** Reads files with all that they include. A file that cannot be read is reported and left out. */
class SiteFiles {
  readonly unreadable: { file: string; line: number | null; reason: string }[] = []
  readonly #prefix: string
  readonly #isOurs: (path: string) => boolean
  #count = 0
  #depth = 0

  /** Relative includes start at `prefix`. */
  constructor(prefix: string, isOurs: (path: string) => boolean) {
    this.#prefix = prefix
    this.#isOurs = isOurs
  }

  read(path: string): SiteDirective[] {
    const text = this.#text(path)
    if (text === undefined) return []
    this.#depth += 1
    try {
      return readSite(path, text, this.#included)
    } catch (error) {
      if (!(error instanceof UnreadableText)) throw error
      this.unreadable.push({ file: path, line: error.line, reason: error.message })
      return []
    } finally {
      this.#depth -= 1
    }
  }

  readonly #included: Included = (pattern) => {
    const paths = pathsOf(pattern, this.#prefix)
    return paths.filter((path) => !this.#isOurs(path)).flatMap((path) => this.read(path))
  }

  #text(path: string): string | undefined {
    this.#count += 1
    const stats = statSync(path, { throwIfNoEntry: false })
    if (this.#count > MAX_FILES || this.#depth > MAX_DEPTH || !stats?.isFile() || stats.size > MAX_BYTES) {
      this.unreadable.push({
        file: path,
        line: null,
        reason: 'the file is missing, too large, no file, or includes itself',
      })
      return undefined
    }
    try {
      return readFileSync(path, 'utf8')
    } catch {
      this.unreadable.push({ file: path, line: null, reason: 'the file cannot be read' })
      return undefined
    }
  }
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.name.startsWith('.') && !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => existsSync(path) && statSync(path).isFile())
    .toSorted()
