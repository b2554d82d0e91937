import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs'
import { errorCode } from '../../../primitives/durable-file.ts'
import type { Folders } from './glob.ts'
import { draftServer } from './server-draft.ts'
import { type Content, type ParsedText, parse, type Statement } from './statements.ts'

const MAX_BYTES = 64 * 1024 * 1024
/** Two changes within one tick of the file system's clock have the same times. A file that changed more recently is read again. */
const SETTLED_AFTER_MS = 100
const STATS_PER_TURN = 500

/** Equal stamps mean that a path has not changed. */
interface Stamp {
  readonly dev: number
  readonly ino: number
  readonly size: number
  readonly mtimeMs: number
  readonly ctimeMs: number
  /** The error code of stat, such as ENOENT. */
  readonly fault: string | undefined
  readonly isSettled: boolean
}

const NO_STATS = { dev: 0, ino: 0, size: 0, mtimeMs: 0, ctimeMs: 0, isSettled: true }

export type Loaded = ParsedText | { readonly unreadable: string }

interface KnownFile {
  readonly stamp: Stamp
  readonly loaded: Loaded
}

/** A cache of files and folders. A path is read again only when it has changed. */
export class ConfigFiles implements Folders {
  readonly #files = { directives: new Map<string, KnownFile>(), entries: new Map<string, KnownFile>() }
  readonly #folders = new Map<string, { readonly stamp: Stamp; readonly names: readonly string[] }>()
  /** Every path that the current reading has used. */
  #seen = new Map<string, Stamp>()

  /** Whether no path of the last reading has changed. False before the first reading. */
  async isUnchanged(): Promise<boolean> {
    if (this.#seen.size === 0) return false
    let count = 0
    for (const [path, stamp] of this.#seen) {
      if (!isSame(stamp, stampOf(path).stamp)) return false
      count += 1
      if (count % STATS_PER_TURN === 0) await new Promise(setImmediate)
    }
    return true
  }

  /** Identifies this reading. Computed on first use. */
  trace(): () => Trace {
    const seen = this.#seen
    let known: Trace | undefined
    return () => {
      known ??= traceOf(seen)
      return known
    }
  }

  begin(): void {
    this.#seen = new Map()
  }

  /** Drops every path that this reading did not use. */
  end(): void {
    for (const kept of [this.#files.directives, this.#files.entries, this.#folders]) {
      for (const path of kept.keys()) if (!this.#seen.has(path)) kept.delete(path)
    }
  }

  load(path: string, content: Content): Loaded {
    const known = this.#files[content].get(path)
    if (known && this.#seen.has(path)) return known.loaded
    const { stamp, stats } = this.#stat(path)
    if (known && isSame(known.stamp, stamp)) return known.loaded
    const loaded = stats
      ? read(path, content, stats)
      : { unreadable: `the file cannot be found or read (${stamp.fault})` }
    this.#files[content].set(path, { stamp, loaded })
    return loaded
  }

  list(folder: string): readonly string[] {
    const known = this.#folders.get(folder)
    if (known && this.#seen.has(folder)) return known.names
    const { stamp } = this.#stat(folder)
    if (known && isSame(known.stamp, stamp)) return known.names
    const names = namesIn(folder)
    this.#folders.set(folder, { stamp, names })
    return names
  }

  exists(path: string): boolean {
    return this.#stat(path).stats !== undefined
  }

  #stat(path: string): { stamp: Stamp; stats: Stats | undefined } {
    const found = stampOf(path)
    this.#seen.set(path, found.stamp)
    return found
  }
}

/** A summary of all paths of a reading. */
export interface Trace {
  readonly fingerprint: string
  /** The latest change in whole milliseconds; infinite when a path is missing, because the time of its removal is unknown. */
  readonly changedAt: number
}

function traceOf(seen: ReadonlyMap<string, Stamp>): Trace {
  const hash = createHash('sha256')
  let changedAt = 0
  for (const [path, { dev, ino, size, mtimeMs, ctimeMs, fault }] of seen) {
    hash.update(`${path}\0${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs} ${fault}\n`)
    changedAt = Math.max(changedAt, fault === undefined ? Math.floor(ctimeMs) : Number.POSITIVE_INFINITY)
  }
  return { fingerprint: hash.digest('base64'), changedAt }
}

const isSame = (before: Stamp, now: Stamp): boolean =>
  before.isSettled &&
  before.ino === now.ino &&
  before.size === now.size &&
  before.mtimeMs === now.mtimeMs &&
  before.ctimeMs === now.ctimeMs &&
  before.dev === now.dev &&
  before.fault === now.fault

function stampOf(path: string): { stamp: Stamp; stats: Stats | undefined } {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats) return { stamp: { ...NO_STATS, fault: 'ENOENT' }, stats }
    const { dev, ino, size, mtimeMs, ctimeMs } = stats
    const isSettled = Date.now() - ctimeMs > SETTLED_AFTER_MS
    return { stamp: { dev, ino, size, mtimeMs, ctimeMs, fault: undefined, isSettled }, stats }
  } catch (error) {
    return { stamp: { ...NO_STATS, fault: errorCode(error) ?? 'unknown' }, stats: undefined }
  }
}

/** Opens only regular files: reading a pipe could block for ever. */
function read(path: string, content: Content, stats: Stats): Loaded {
  if (!stats.isFile()) return { unreadable: 'the path is not a regular file' }
  if (stats.size > MAX_BYTES) return { unreadable: 'the file is too large' }
  try {
    return parseFile(readFileSync(path, 'utf8'), content, path)
  } catch (error) {
    return { unreadable: `the file cannot be read (${errorCode(error) ?? 'unknown'})` }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** A server without includes is drafted at once, and its statements are dropped to save memory. */
const parseFile = (text: string, content: Content, path: string): ParsedText =>
  parse(text, content, (ended) => {
    const { name, args, line, block = [] } = ended
    if (name !== 'server' || hasInclude(block)) return ended
    return { name, args, line, block: undefined, draft: draftServer(ended, path, inItself) }
  })

const inItself = ({ block = [] }: Statement): readonly Statement[] => block

const hasInclude = (block: readonly Statement[]): boolean =>
  block.some(({ name, block: inner }) => name === 'include' || (inner !== undefined && hasInclude(inner)))
