import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs'
import { kernelTime } from '../../../primitives/clock.ts'
import { errorCode } from '../../../primitives/durable-file.ts'
import { bytesOf, textFromBytes } from '../../../primitives/lossless-text.ts'
import { StepBudget } from '../patterns/pattern.ts'
import { draftServer } from './server-draft.ts'
import { type Content, type ParsedText, parse, type Statement } from './statements.ts'

const MAX_BYTES = 64 * 1024 * 1024
/** Two changes within one tick of the file system's clock have the same times. A file that changed more recently is read again. */
const SETTLED_AFTER_MS = 100

/** Equal stamps mean that a path has not changed. */
export interface Stamp {
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

/** `unreadable`: a clause. */
interface Unreadable {
  readonly unreadable: string
  readonly code?: string
}

export type Loaded = ParsedText | Unreadable
type Listed = { readonly names: readonly string[] } | Unreadable

interface KnownFile {
  readonly stamp: Stamp
  readonly loaded: Loaded
}

/** A cache of files and folders. A path is read again only when it has changed, or after a fault that may have passed. */
export class ConfigFiles {
  readonly #files = { directives: new Map<string, KnownFile>(), entries: new Map<string, KnownFile>() }
  readonly #folders = new Map<string, { readonly stamp: Stamp; readonly listed: Listed }>()
  #seen = new Map<string, Stamp>()
  #budget = new StepBudget()

  /** The pattern budget of this reading. */
  get budget(): StepBudget {
    return this.#budget
  }

  /** Every path that the current reading has used. */
  get seen(): ReadonlyMap<string, Stamp> {
    return this.#seen
  }

  begin(): void {
    this.#seen = new Map()
    this.#budget = new StepBudget()
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
    if (known && isSameStamp(known.stamp, stamp)) return known.loaded
    const loaded = stats
      ? read(path, content, stats, this.#budget)
      : { unreadable: `the file cannot be found or read (${stamp.fault})` }
    this.#files[content].set(path, { stamp: this.#noted(path, stamp, loaded), loaded })
    return loaded
  }

  /** A folder that is not there, or is none, has no names. */
  list(folder: string): Listed {
    const known = this.#folders.get(folder)
    if (known && this.#seen.has(folder)) return known.listed
    const { stamp } = this.#stat(folder)
    if (known && isSameStamp(known.stamp, stamp)) return known.listed
    const listed = namesIn(folder)
    this.#folders.set(folder, { stamp: this.#noted(folder, stamp, listed), listed })
    return listed
  }

  isListed(path: string): boolean {
    return this.#folders.has(path)
  }

  /** A path of which that is not known counts as there: `load` tells why it cannot be read. */
  exists(path: string): boolean {
    return !ABSENT.includes(this.#stat(path).stamp.fault ?? '')
  }

  #stat(path: string): { stamp: Stamp; stats: Stats | undefined } {
    const found = stampOf(path)
    // With the fault of an earlier look of this reading the path has changed at the next one.
    if (this.#seen.get(path)?.fault === undefined) this.#seen.set(path, found.stamp)
    return found
  }

  /** A fault that may pass without a change of the path is in its stamp: then the path has changed at the next reading. */
  #noted(path: string, stamp: Stamp, found: Loaded | Listed): Stamp {
    if (!('code' in found) || found.code === undefined || LASTING.includes(found.code)) return stamp
    const faulty = { ...stamp, fault: found.code }
    this.#seen.set(path, faulty)
    return faulty
  }
}

/** Faults of a path where nothing is. */
const ABSENT: readonly string[] = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']
const LASTING: readonly string[] = [...ABSENT, 'EACCES']

export const isSameStamp = (before: Stamp, now: Stamp): boolean =>
  before.isSettled &&
  before.ino === now.ino &&
  before.size === now.size &&
  before.mtimeMs === now.mtimeMs &&
  before.ctimeMs === now.ctimeMs &&
  before.dev === now.dev &&
  before.fault === now.fault

export const isSettled = (changedAt: number): boolean => kernelTime() - changedAt > SETTLED_AFTER_MS

export function stampOf(path: string): { stamp: Stamp; stats: Stats | undefined } {
  try {
    const stats = statSync(bytesOf(path), { throwIfNoEntry: false })
    if (!stats) return { stamp: { ...NO_STATS, fault: 'ENOENT' }, stats }
    const { dev, ino, size, mtimeMs, ctimeMs } = stats
    const stamp = { dev, ino, size, mtimeMs, ctimeMs, fault: undefined, isSettled: isSettled(ctimeMs) }
    return { stamp, stats }
  } catch (error) {
    return { stamp: { ...NO_STATS, fault: errorCode(error) ?? 'unknown' }, stats: undefined }
  }
}

/** Opens only regular files: reading a pipe could block for ever. */
function read(path: string, content: Content, stats: Stats, budget: StepBudget): Loaded {
  if (path === '/dev/null') return parseFile('', content, path, budget)
  if (!stats.isFile()) return { unreadable: 'the path is not a regular file' }
  if (stats.size > MAX_BYTES) return { unreadable: 'the file is too large' }
  try {
    return parseFile(readFileSync(bytesOf(path), 'utf8'), content, path, budget)
  } catch (error) {
    const code = errorCode(error) ?? 'unknown'
    return { unreadable: `the file cannot be read (${code})`, code }
  }
}

function namesIn(folder: string): Listed {
  try {
    return { names: readdirSync(bytesOf(folder), { encoding: 'buffer' }).map(textFromBytes) }
  } catch (error) {
    const code = errorCode(error) ?? 'unknown'
    return ABSENT.includes(code) ? { names: [] } : { unreadable: `the folder cannot be listed (${code})`, code }
  }
}

/** A server without includes is drafted at once, and its statements are dropped to save memory. */
const parseFile = (text: string, content: Content, path: string, budget: StepBudget): ParsedText =>
  parse(text, content, (ended) => {
    const { name, args, line, block = [] } = ended
    if (name !== 'server' || hasInclude(block)) return ended
    return { name, args, line, block: undefined, draft: draftServer(ended, path, inItself, budget) }
  })

const inItself = ({ block = [] }: Statement): readonly Statement[] => block

const hasInclude = (block: readonly Statement[]): boolean =>
  block.some(({ name, block: inner }) => name === 'include' || (inner !== undefined && hasInclude(inner)))
