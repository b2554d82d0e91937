import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { EdgeFault } from '../../edge/contract/fault.ts'
import { parseName } from '../../model/dns-name.ts'
import { placeOf, releasedFile } from '../layout.ts'
import { pathsOf } from '../reading/include-drafts.ts'
import { type Folders, TooManyPaths } from '../reading/text/glob.ts'
import { UnreadableText } from '../reading/text/tokens.ts'
import type { EdgeSettings } from '../settings.ts'
import { type JudgedSite, judgeSite } from './judge/judge-site.ts'
import { namesOf } from './judge/site-blocks.ts'
import { placesOf } from './judge/site-listens.ts'
import type { SiteWorld } from './judge/site-world.ts'
import { asSite } from './released-site.ts'
import { type Included, readSite, type SiteDirective } from './site-text.ts'

/** The hand-written server blocks of an nginx, and their context. */
export interface Sites {
  readonly servers: readonly SiteDirective[]
  /** The content of the http block without its servers. Its servers inherit it. */
  readonly http: readonly SiteDirective[]
  readonly upstreams: ReadonlyMap<string, readonly string[]>
  /** The servers that are the default of a socket because they are its first server. */
  readonly firsts: ReadonlySet<SiteDirective>
  /** Files that could not be read. `reason` is a clause without text of the file. */
  readonly unreadable: readonly { readonly file: string; readonly line: number | null; readonly reason: string }[]
}

const MAX_FILES = 20_000
/** Ends the reading of files that include each other. */
const MAX_DEPTH = 32
const MAX_BYTES = 16 * 1024 * 1024

/**
 * The sites of an edge, in the order in which nginx reads them. Leaves out Drawbridge's own files, except the file of `host` if the
 * host was released: that file belongs to the administrator, and our base file includes it.
 */
export function sitesOfEdge({ config, folder }: Pick<EdgeSettings, 'config' | 'folder'>, host?: string): Sites {
  const files = new SiteFiles(dirname(config), (path) => path.startsWith(`${folder}/`))
  const directives = files.read(config, topOf(config))
  const released = host === undefined ? undefined : placeOf(folder, releasedFile(host, 'conf'))
  if (released === undefined || !existsSync(released) || files.included.has(realpathSync(released)))
    return sitesIn(directives, files)
  return sitesIn([...directives, ...asSite(files.read(released, topOf(released)))], files)
}

const MAIN = 'nginx.conf'
const OUR_FOLDERS = ['drawbridge', 'drawbridge-released']

/**
 * The sites in the files of a folder. A folder with nginx.conf is read as nginx reads it, from that file. In any other folder each
 * file counts as included in an http block, and relative includes start at the nearest parent folder with nginx.conf. Follows
 * links, as nginx does.
 */
export function sitesOfFolder(folder: string): Sites {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new EdgeFault('unavailable', `${folder} is not a folder that can be read.`)
  const prefix = prefixOf(resolve(folder))
  const isOurs = (path: string) => OUR_FOLDERS.some((own) => path.startsWith(`${prefix}/${own}/`))
  if (prefix === resolve(folder)) {
    const files = new SiteFiles(prefix, isOurs)
    const main = join(prefix, MAIN)
    const sites = existsSync(main) ? sitesIn(files.read(main, topOf(main)), files) : undefined
    // A copy of a folder may include the original by its absolute path, which may be missing here.
    if (sites && sites.servers.length > 0) return sites
  }
  const files = new SiteFiles(prefix, isOurs)
  const seen = new Set<string>()
  const read = filesBelow(folder).flatMap((path) => {
    // A file in sites-available and its link in sites-enabled are one site.
    const real = realpathSync(path)
    if (seen.has(real) || isPem(path)) return []
    seen.add(real)
    const directives = files.read(path, topOf(path))
    return isSnippet(path, directives) ? [] : [{ real, directives }]
  })
  // The content of an included file belongs to the file that includes it, not to the http block.
  const directives = read.filter(({ real }) => !files.included.has(real)).flatMap((each) => each.directives)
  return sitesIn(directives, files)
}

/** The nearest folder, upwards, that has the main file. Without one the folder itself. */
function prefixOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, MAIN))) return at
    if (at === dirname(at)) return folder
  }
}

/** What a judgement depends on besides the text of the configuration. */
export type GivenWorld = Omit<SiteWorld, 'upstreams' | 'http' | 'firsts'>

/** Judges a host by its directives alone. */
export const judgeHost = (host: string, sites: Sites, world: GivenWorld): JudgedSite =>
  judgeSite(host, serversOf(host, sites), { ...world, ...sites })

/** The server blocks with exactly this name. */
export const serversOf = (host: string, { servers }: Sites): readonly SiteDirective[] =>
  servers.filter((server) => namesOf(server).includes(host))

/** The hosts of all servers. A wildcard or a pattern is not a host. */
export const hostsIn = ({ servers }: Sites): string[] =>
  [...new Set(servers.flatMap(namesOf))].filter((name) => name.includes('.') && isNameOfHost(name)).toSorted()

/** Accepts underscores: nginx serves such a name, but it cannot be adopted. */
const isNameOfHost = (name: string): boolean => {
  const alike = name.replaceAll('_', 'x')
  return parseName(alike) === alike
}

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
  const isServer = ({ name, block }: SiteDirective) => name === 'server' && block !== undefined
  const http = all.filter((each) => !isServer(each) && each.name !== 'http')
  const servers = all.filter(isServer)
  return { servers, http, upstreams, firsts: firstsOf(servers), unreadable }
}

/** Without a `default_server`, nginx uses the first block of a socket. */
function firstsOf(servers: readonly SiteDirective[]): ReadonlySet<SiteDirective> {
  const sockets = servers.flatMap((server) => placesOf(server).map((place) => ({ server, place })))
  const bySocket = Map.groupBy(sockets, ({ place: { address, port } }) => `${address} ${port}`)
  const firsts = [...bySocket.values()].flatMap((some) =>
    some.some(({ place }) => place.isDefault) ? [] : some.slice(0, 1).map(({ server }) => server),
  )
  return new Set(firsts)
}

/** Reads files with all their includes. Reports a file that cannot be read, and marks its place. */
class SiteFiles {
  readonly unreadable: { file: string; line: number | null; reason: string }[] = []
  /** The real paths of the files that other files include. */
  readonly included = new Set<string>()
  readonly #prefix: string
  readonly #isOurs: (path: string) => boolean
  #count = 0
  #depth = 0

  /** Relative includes start at `prefix`. */
  constructor(prefix: string, isOurs: (path: string) => boolean) {
    this.#prefix = prefix
    this.#isOurs = isOurs
  }

  /** `include`: replaces the content if the file cannot be read. */
  read(path: string, include: SiteDirective): SiteDirective[] {
    const found = this.#textOf(path)
    if ('fault' in found) return [this.#unread(path, null, found.fault, include)]
    this.#depth += 1
    try {
      return readSite(path, found.text, this.#included)
    } catch (error) {
      if (!(error instanceof UnreadableText)) throw error
      return [this.#unread(path, error.line, error.message, include)]
    } finally {
      this.#depth -= 1
    }
  }

  readonly #included: Included = (pattern, include) => {
    try {
      const paths = pathsOf(pattern, this.#prefix, LOOKED_INTO)
      return paths
        .filter((path) => !this.#isOurs(path))
        .flatMap((path) => {
          if (existsSync(path)) this.included.add(realpathSync(path))
          return this.read(path, include)
        })
    } catch (error) {
      if (!(error instanceof TooManyPaths || error instanceof HiddenPath)) throw error
      return [this.#unread(include.path, include.line, error.message, include)]
    }
  }

  #unread(file: string, line: number | null, reason: string, include: SiteDirective): SiteDirective {
    this.unreadable.push({ file, line, reason })
    return { ...include, unread: reason }
  }

  #textOf(path: string): { readonly text: string } | { readonly fault: string } {
    this.#count += 1
    if (this.#count > MAX_FILES) return { fault: 'too many files are included' }
    if (this.#depth > MAX_DEPTH) return { fault: 'includes are nested too deeply, or a file includes itself' }
    try {
      if (path === '/dev/null') return { text: '' }
      const stats = statSync(path, { throwIfNoEntry: false })
      if (!stats) return { fault: 'the file is missing' }
      if (!stats.isFile()) return { fault: 'it is no regular file' }
      if (stats.size > MAX_BYTES) return { fault: 'the file is too large' }
      return { text: readFileSync(path, 'utf8') }
    } catch {
      return { fault: 'the file cannot be read' }
    }
  }
}

/** The path cannot be inspected, but nginx may read its content. The message is a clause. */
class HiddenPath extends Error {
  constructor() {
    super('its pattern leads through a folder that cannot be read')
  }
}

const LOOKED_INTO: Folders = {
  list: (folder) => unlessMissing(() => readdirSync(folder), []),
  exists: (path) => unlessMissing(() => statSync(path) !== undefined, false),
}

function unlessMissing<T>(look: () => T, missing: T): T {
  try {
    return look()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return missing
    throw new HiddenPath()
  }
}

/** Represents the include of a file that no other file includes. */
const topOf = (path: string): SiteDirective => ({
  name: 'include',
  args: [],
  path,
  line: 1,
  block: undefined,
  start: 0,
  end: 0,
})

/**
 * A file such as proxy_params, which sites include. Only files of conf.d count as content of the http block if they have no block.
 */
const isSnippet = (path: string, directives: readonly SiteDirective[]): boolean =>
  !path.endsWith('.conf') && directives.every(({ block, unread }) => block === undefined && unread === undefined)

/** Certificates and keys may be in the same folder as sites. They are not configuration. */
function isPem(path: string): boolean {
  const start = Buffer.alloc(11)
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    readSync(file, start)
  } catch {
    return false
  } finally {
    if (file !== undefined) closeSync(file)
  }
  return start.toString('latin1') === '-----BEGIN '
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.name.startsWith('.') && !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => existsSync(path) && statSync(path).isFile())
    .toSorted()
