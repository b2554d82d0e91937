import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { CURRENT, GENERATIONS } from '../../edge/layout.ts'
import type { BrokenPlace, DebugLog } from '../../edge/served.ts'
import { BASE_FILE, GATHERED_ENDINGS, releasedFolder } from '../layout.ts'
import { type HttpBlock, readHttpBlock } from './servers/http-block.ts'
import { type ConfigFiles, isSettled, type Stamp } from './text/config-files.ts'
import { Included, type KnownIncludes, type Located } from './text/included.ts'

/** The kinds of gathered files that are not parsed here: see gathered-hosts.ts. */
export const GATHERED_KINDS = [
  'names-http',
  'names-https',
  'backends',
] as const satisfies readonly (keyof typeof GATHERED_ENDINGS)[]

export interface ParseRequest {
  /** The main file of nginx. */
  readonly config: string
  /** The folder of the edge. */
  readonly folder: string
  /** The folder with which nginx is started. Undefined: not known. */
  readonly prefix?: string | undefined
  /** The generation whose gathered files are known already. */
  readonly generation: number | undefined
  /** The gathered files of that generation that have more than names or entries, by their paths in the generation. */
  readonly odd: readonly string[]
}

/** The configuration that nginx reads, as plain data. Paths use the link to the present generation. */
export interface Parsed extends HttpBlock {
  readonly broken: readonly BrokenPlace[]
  /** Those of the main, events and http contexts. */
  readonly debugLogs: readonly DebugLog[]
  /** The files and folders outside the edge's folder that were read. */
  readonly foreign: ReadonlyMap<string, Stamp>
  /** Those of the edge, without the base file, by the path in the generation; '' is the edge's folder. */
  readonly own: ReadonlyMap<string, OwnPath>
  /** A summary of `foreign`, `own` and `probes`. */
  readonly trace: Trace
}

/** The names in a folder, or the stamp of a file. */
export type OwnPath = string | Stamp

interface Trace {
  readonly fingerprint: string
  /** The latest change in whole milliseconds; infinite when a path is missing, because the time of its removal is unknown. */
  readonly changedAt: number
}

/** Needs 0.2 to 0.5 s for 10,000 server blocks, so it runs on a thread of its own. */
export function parseConfiguration(request: ParseRequest, files: ConfigFiles): Parsed {
  const { config, folder } = request
  files.begin()
  const included = new Included(files, config, knownIncludes(request))
  const http = readHttpBlock(included, request.prefix)
  const debugLogs = [...debugLogsIn(included)].map(({ path, line }) => ({ path, line }))
  files.end()
  const stable = <T extends { readonly path: string }>(one: T): T => ({ ...one, path: stablePath(folder, one.path) })
  return {
    ...http,
    servers: http.servers.map((server) => (server.path.startsWith(folder) ? stable(server) : server)),
    broken: included.broken().map(stable),
    hidesListens: http.hidesListens && stable(http.hidesListens),
    debugLogs: debugLogs.map(stable),
    ...pathsRead(files, folder, http.probes),
  }
}

function pathsRead(
  files: ConfigFiles,
  folder: string,
  probes: HttpBlock['probes'],
): Pick<Parsed, 'foreign' | 'own' | 'trace'> {
  const foreign = new Map<string, Stamp>()
  const own = new Map<string, OwnPath>()
  for (const [path, stamp] of files.seen) {
    const inside = path === folder ? '' : inGeneration(folder, path)
    if (inside !== undefined) own.set(inside, files.isListed(path) ? namesIn(path) : ownStamp(stamp))
    else if (path !== join(folder, BASE_FILE)) foreign.set(path, stamp)
  }
  return { foreign, own, trace: traceOf([...foreign, ...own, ...probes], releasedFolder(folder)) }
}

function knownIncludes({ folder, generation, odd }: ParseRequest): KnownIncludes {
  const own = join(folder, GENERATIONS, String(generation))
  const kinds = new Map<string, string>(
    GATHERED_KINDS.map((kind) => [`${own}/${kind}/*.${GATHERED_ENDINGS[kind]}`, kind]),
  )
  return {
    kindOf: (pattern) => (generation === undefined ? undefined : kinds.get(pattern)),
    filesToRead: (kind) => odd.filter((file) => file.startsWith(`${kind}/`)).map((file) => `${own}/${file}`),
    isOurs: (pattern) => normalize(pattern) === join(folder, '*.conf'),
  }
}

function* debugLogsIn(included: Included): Generator<Located> {
  for (const statement of included.main()) {
    if (isDebugLog(statement)) yield statement
    if (statement.name === 'events' || statement.name === 'http') yield* [...included.in(statement)].filter(isDebugLog)
  }
}

/** Matches `debug` and its subsystems such as `debug_http`. */
const isDebugLog = ({ name, args }: Located): boolean =>
  name === 'debug_connection' || (name === 'error_log' && args.slice(1).some((level) => level.startsWith('debug')))

/** Replaces the number of the generation in a path by the link to the present generation. */
function stablePath(folder: string, path: string): string {
  const inside = inGeneration(folder, path)
  return inside === undefined ? path : join(folder, CURRENT, inside)
}

/** The path relative to its generation; undefined for a path outside the generations. */
function inGeneration(folder: string, path: string): string | undefined {
  const generations = join(folder, GENERATIONS, '/')
  if (!path.startsWith(generations)) return undefined
  const rest = path.slice(generations.length)
  return rest.slice(rest.indexOf('/') + 1)
}

/** A file that is linked into the next generation gets a new ctime. Its mtime is the time when its content was written. */
export const ownStamp = ({ mtimeMs, ...stamp }: Stamp): Stamp => ({
  ...stamp,
  mtimeMs,
  ctimeMs: mtimeMs,
  isSettled: isSettled(mtimeMs),
})

/** The visible names in a folder. The edge's drafts have hidden names. */
export function namesIn(folder: string): string {
  try {
    return readdirSync(folder)
      .filter((name) => !name.startsWith('.'))
      .sort()
      .join('/')
  } catch {
    return ''
  }
}

/** `optional`: a folder that may never have existed, so its absence is not a removal. */
function traceOf(seen: readonly (readonly [string, OwnPath])[], optional: string): Trace {
  const hash = createHash('sha256')
  let changedAt = 0
  for (const [path, stamp] of seen) {
    if (typeof stamp === 'string') {
      hash.update(`${path}\0${stamp}\n`)
      continue
    }
    const { dev, ino, size, mtimeMs, ctimeMs, fault } = stamp
    hash.update(`${path}\0${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs} ${fault}\n`)
    if (fault !== undefined && path === optional) continue
    changedAt = Math.max(changedAt, fault === undefined ? Math.floor(ctimeMs) : Number.POSITIVE_INFINITY)
  }
  return { fingerprint: hash.digest('base64'), changedAt }
}
