import { readdirSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { faultOf, isNone, unlessNone } from '../../edge/faults.ts'
import { CURRENT, GENERATIONS } from '../../edge/layout.ts'
import { errorCode } from '../../primitives/durable-file.ts'
import type { Slices } from '../../primitives/slices.ts'
import { GATHERED_KINDS, ownStamp } from './parsed.ts'
import { BACKENDS, type GatheredHost, type GatheredHosts } from './servers/server-index.ts'
import { isSameStamp, type Stamp, stampOf } from './text/config-files.ts'
import { parse } from './text/statements.ts'
import { ESCAPED_HOST, hostInMapKey, hostInServerName, unescaped } from './text/written-names.ts'

/** The hosts of a generation. */
export interface Gathering {
  readonly hosts: GatheredHosts
  /** The files with other lines than names or entries, by their paths in the generation. */
  readonly odd: readonly string[]
  /** Changes whenever a file changes. */
  readonly version: number
  readonly changedAt: number
}

interface Entry {
  readonly host: string
  /** The backend in a map; empty for a name. */
  readonly value: string
  readonly line: number
}

interface GatheredFile {
  readonly stamp: Stamp
  readonly entries: readonly Entry[]
  readonly isOdd: boolean
}

/**
 * Reads the hosts of the present generation. The edge wrote its files, so their lines are recognized without a parser, and only
 * files that have changed are read again. A file with other lines is odd: the parser reads it.
 */
export class GatheredHostsReader {
  readonly #folder: string
  /** By the path in the generation. */
  readonly #files = new Map<string, GatheredFile>()
  /**
   * The hosts of the files with the same name in all kinds. All lines of a host are in one shard unless an administrator wrote it
   * elsewhere.
   */
  readonly #shards = new Map<string, ReadonlyMap<string, GatheredHost>>()
  /** The shards whose files have changed since they were gathered. Survives a failed reading. */
  readonly #stale = new Set<string>()
  #hosts: GatheredHosts = new Map()
  #hasScattered = false
  #version = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * `changed`: the hosts that may differ from those of the last call. Rejects with an EdgeFault if a file or a folder cannot be read:
   * its hosts are not gone.
   */
  async read(
    generation: number | undefined,
    slices: Slices,
  ): Promise<{ readonly gathering: Gathering; readonly changed: ReadonlySet<string> }> {
    const changedAt = await this.#refresh(generation, slices)
    const changed = new Set<string>()
    if (this.#stale.size > 0) {
      this.#version += 1
      await this.#gather(new Set(this.#stale), changed, slices)
      this.#stale.clear()
    }
    const odd = [...this.#files].flatMap(([file, { isOdd }]) => (isOdd ? [file] : []))
    return { gathering: { hosts: this.#hosts, odd, version: this.#version, changedAt }, changed }
  }

  /** Reads the files that have changed. Resolves with the time of the latest change. */
  async #refresh(generation: number | undefined, slices: Slices): Promise<number> {
    const folder = join(this.#folder, GENERATIONS, String(generation))
    const seen = new Set<string>()
    let changedAt = 0
    for (const kind of generation === undefined ? [] : GATHERED_KINDS) {
      changedAt = Math.max(changedAt, stampOf(join(folder, kind)).stamp.ctimeMs)
      for (const name of visibleNames(join(folder, kind), kind === BACKENDS ? '.map' : '.conf')) {
        const file = `${kind}/${name}`
        const stamp = ownStamp(stampOf(join(folder, file)).stamp)
        changedAt = Math.max(changedAt, stamp.mtimeMs)
        seen.add(file)
        const known = this.#files.get(file)
        if (known && isSameStamp(known.stamp, stamp)) continue
        const read = readGathered(join(folder, file), kind)
        this.#files.set(file, { ...read, stamp })
        if (!known || read.isOdd || !areSame(known.entries, read.entries)) this.#stale.add(shardOf(file))
        if (slices.isOver) await slices.next()
      }
    }
    for (const file of this.#files.keys()) {
      if (seen.has(file)) continue
      this.#files.delete(file)
      this.#stale.add(shardOf(file))
    }
    return Math.floor(changedAt)
  }

  async #gather(stale: ReadonlySet<string>, changed: Set<string>, slices: Slices): Promise<void> {
    // If a host is in several shards, one changed shard does not give all its places. Collect all hosts anew.
    const hosts = new Map(this.#hasScattered ? [] : this.#hosts)
    const gathered = this.#hasScattered ? new Set([...stale, ...this.#shards.keys()]) : stale
    this.#hasScattered = false
    for (const shard of gathered) {
      for (const host of this.#shards.get(shard)?.keys() ?? []) {
        hosts.delete(host)
        changed.add(host)
      }
    }
    for (const shard of gathered) {
      const found = this.#hostsOf(shard)
      if (found.size === 0) this.#shards.delete(shard)
      else this.#shards.set(shard, found)
      for (const [host, place] of found) {
        const other = hosts.get(host)
        if (other) this.#hasScattered = true
        hosts.set(host, other ? together(other, place) : place)
        changed.add(host)
      }
      if (slices.isOver) await slices.next()
    }
    this.#hosts = hosts
  }

  #hostsOf(shard: string): Map<string, GatheredHost> {
    const hosts = new Map<string, GatheredHost>()
    for (const kind of GATHERED_KINDS) {
      const file = `${kind}/${shard}${kind === BACKENDS ? '.map' : '.conf'}`
      const path = join(this.#folder, CURRENT, file)
      const isMap = kind === BACKENDS
      const kinds = isMap ? NO_KINDS : [kind]
      for (const { host, value, line } of this.#files.get(file)?.entries ?? []) {
        const place = { kinds, backend: isMap ? value : undefined, path, line }
        const other = hosts.get(host)
        hosts.set(host, other ? together(other, place) : place)
      }
    }
    return hosts
  }
}

const NO_KINDS: readonly string[] = []

/** Merges two entries of a host. The place of the backend is kept. */
function together(one: GatheredHost, other: GatheredHost): GatheredHost {
  const main = one.backend === undefined ? other : one
  const kinds = other.kinds.length === 0 ? one.kinds : [...new Set([...one.kinds, ...other.kinds])]
  return { ...main, kinds }
}

const shardOf = (file: string): string => basename(file, extname(file))

const areSame = (before: readonly Entry[], now: readonly Entry[]): boolean =>
  before.length === now.length &&
  before.every(({ host, value, line }, at) => {
    const other = now[at]
    return other?.host === host && other.value === value && other.line === line
  })

/** Groups: the host, or the host as a pattern, and the value. */
const NAME_LINE = new RegExp(`^server_name (?:([a-z0-9._-]+)|"~\\^(${ESCAPED_HOST})\\$");$`)
const MAP_LINE = new RegExp(
  `^(?!default |include )(?:([a-z0-9._-]+)|"~\\*\\^(${ESCAPED_HOST})\\$") ([^\\s;{}"'\\\\$]+);$`,
)

/** A file that is none, or that this process may not read, is odd: the parser reports the reason. */
function readGathered(path: string, kind: string): Omit<GatheredFile, 'stamp'> {
  const text = textAt(path)
  if (text === undefined) return { entries: [], isOdd: true }
  const pattern = kind === BACKENDS ? MAP_LINE : NAME_LINE
  const entries: Entry[] = []
  for (const [at, line] of text.split('\n').entries()) {
    const [, plain, long, value = ''] = pattern.exec(line) ?? []
    const host = plain ?? (long === undefined ? undefined : unescaped(long))
    if (host !== undefined) entries.push({ host, value, line: at + 1 })
    else if (line !== '' && !line.startsWith('#')) return { entries: parsedEntries(text, kind), isOdd: true }
  }
  return { entries, isOdd: false }
}

/** Returns only the places of hosts. The parser of the whole configuration reads the rest of the file. */
function parsedEntries(text: string, kind: string): Entry[] {
  const { statements } = parse(text, kind === BACKENDS ? 'entries' : 'directives', (block) => block)
  return statements.flatMap(({ name, args, line }) => {
    if (kind === BACKENDS) {
      const host = hostInMapKey(name) ?? (isKey(name) ? name.toLowerCase() : undefined)
      return host === undefined ? [] : [{ host, value: args[0] ?? '', line }]
    }
    if (name !== 'server_name') return []
    return args.map((host) => ({ host: hostInServerName(host) ?? host.toLowerCase(), value: '', line }))
  })
}

const isKey = (name: string): boolean =>
  !['default', 'include', 'hostnames', 'volatile'].includes(name) && !/^[~\\]/.test(name)

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isNone(error) || errorCode(error) === 'EACCES') return undefined
    throw faultOf(path, error)
  }
}

const visibleNames = (folder: string, ending: string): string[] =>
  unlessNone(folder, () => readdirSync(folder), []).filter((name) => name.endsWith(ending) && !name.startsWith('.'))
