import { GATHERED_ENDINGS, MAX_PARTS, type PemKind } from '../../estate/layout.ts'
import { ESCAPED_HOST, HOST_PATTERN, unescaped } from '../../estate/reading/text/written-names.ts'

/**
 * The files of a generation. nginx opens a thousand small files much more slowly than it reads a few large ones. Therefore the
 * texts of all hosts are gathered: one folder per kind of text, with at most SHARDS files. A host is always in the same file.
 */
const SHARDS = 64

interface Kind {
  /** The extension of the file name. */
  readonly ending: 'conf' | 'map' | 'json'
  readonly secret?: boolean
  readonly split: (text: string) => Segment[]
}

/** A piece of a shard, byte for byte. All pieces together are the whole text. */
interface Segment {
  /** The host, or the id of the certificate. Undefined: Drawbridge did not write the piece. */
  readonly key: string | undefined
  readonly raw: string
}

const HEADER = '# Made by Drawbridge. What is changed here by hand is not overwritten, but reported.\n'

/** `pattern`: the first group is the host, the second one a host that is written as a pattern. */
const byLine =
  (pattern: RegExp): Kind['split'] =>
  (text) =>
    linesOf(text).map((raw) => {
      const [, plain, long] = pattern.exec(raw) ?? []
      return { key: long === undefined ? plain : unescaped(long), raw }
    })

/** A block begins at a line with its host and ends before the next such line. */
const byBlock: Kind['split'] = (text) => {
  const segments: { key: string | undefined; raw: string }[] = []
  for (const line of linesOf(text)) {
    const key = /^#: ([a-z0-9._-]+)\n$/.exec(line)?.[1]
    const last = segments.at(-1)
    if (key !== undefined || !last) segments.push({ key, raw: line })
    else last.raw += line
  }
  return segments
}

const byCertificate: Kind['split'] = (text) => {
  const segments: Segment[] = []
  let end = 0
  const passOver = (to: number) => {
    if (to > end) segments.push({ key: undefined, raw: text.slice(end, to) })
  }
  for (const { 0: raw, 1: key, index } of text.matchAll(/(?<=^|\n)([0-9a-f]{32}) "[^"]*";\n/g)) {
    passOver(index)
    segments.push({ key, raw })
    end = index + raw.length
  }
  passOver(text.length)
  return segments
}

/** With their line breaks. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n/g) ?? []

const NAMES: Kind = {
  ending: GATHERED_ENDINGS['names-http'],
  split: byLine(new RegExp(`^\\s*server_name\\s+(?:(${HOST_PATTERN})|"~\\^(${ESCAPED_HOST})\\$")\\s*;`)),
}
const VALUES: Kind = {
  ending: GATHERED_ENDINGS.backends,
  split: byLine(new RegExp(`^\\s*(?:(${HOST_PATTERN})|"~\\*\\^(${ESCAPED_HOST})\\$")\\s`)),
}

export const PEM_KINDS = ['certificate', 'key'] as const
export const pemFolder = (kind: PemKind, part: number): string => `tls/${kind}s-${part}`
const pemFolders = PEM_KINDS.flatMap((kind) =>
  Array.from({ length: MAX_PARTS[kind] }, (_, at): [string, Kind] => [
    pemFolder(kind, at + 1),
    { ending: 'map', secret: true, split: byCertificate },
  ]),
)

/**
 * The kinds of text that hosts have. `entries` is not for nginx: it holds the records. `entries`, `answers` and `blocks` contain
 * the proofs of entries: protect them, because a reader could answer in place of an entry.
 */
const HOST_KINDS = {
  entries: { ending: 'json', secret: true, split: byLine(/^\{"host":"([a-z0-9._-]+)"/) },
  'names-http': NAMES,
  'names-https': NAMES,
  backends: VALUES,
  answers: { ...VALUES, secret: true },
  challenges: { ending: 'map', split: byLine(new RegExp(`^\\s*"~\\^()(${ESCAPED_HOST}) `)) },
  blocks: { ending: 'conf', secret: true, split: byBlock },
  'tls/hosts': { ...VALUES, secret: true },
} as const satisfies Readonly<Record<string, Kind>>

export type HostKind = keyof typeof HOST_KINDS
export const ENTRIES = 'entries'
/** The kinds that nginx reads. */
export const TEXT_KINDS = (Object.keys(HOST_KINDS) as HostKind[]).filter((kind) => kind !== ENTRIES)

/** By folder. */
const KINDS: Readonly<Record<string, Kind>> = { ...HOST_KINDS, ...Object.fromEntries(pemFolders) }

export const SHARD_FOLDERS: readonly string[] = Object.keys(KINDS)

/** Whether a file of this name belongs to a folder of the generation. Editors may leave other files there. */
export const isIncluded = (folder: string, name: string): boolean =>
  !name.startsWith('.') && name.endsWith(`.${KINDS[folder]?.ending}`)

/** The include pattern of one kind. */
export const shardGlob = (folder: string): string => `${folder}/*.${KINDS[folder]?.ending}`

/** The kind of a shard, by its path in the generation. */
const kindOf = (file: string): Kind => {
  const kind = KINDS[file.slice(0, file.lastIndexOf('/'))]
  if (!kind) throw new Error(`${file} is not a file of a generation.`)
  return kind
}

export const isSecretFile = (file: string): boolean => kindOf(file).secret ?? false

/** The file of a kind that holds a key, by its path in the generation. */
export const shardFile = (folder: string, key: string): string => fileOfShard(folder, shardOf(key))

export const fileOfShard = (folder: string, shard: string): string => `${folder}/${shard}.${KINDS[folder]?.ending}`

/** FNV-1a: it is called for thousands of hosts at once, and needs no resistance to attacks. */
export function shardOf(key: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return String((hash >>> 0) % SHARDS).padStart(2, '0')
}

/** Whether a text of this key may be in the file. Foreign text may look like ours. */
function belongsIn(file: string, key: string): boolean {
  const shard = /\/(\d\d)\.(?:conf|map|json)$/.exec(file)?.[1]
  return shard === undefined || shard === shardOf(key)
}

/** The text of one shard. Unchanged text keeps its place, byte for byte. */
export class Shard {
  /** The text that was read. */
  readonly source: string
  readonly #file: string
  readonly #header: string
  #segments: readonly Segment[]
  #known: Map<string, string> | undefined
  #stray: readonly number[] | undefined
  #firstLines: ReadonlyMap<string, number> | undefined

  constructor(file: string, source = '', segments = segmentsIn(file, source)) {
    this.source = source
    this.#file = file
    this.#header = source === '' || source.startsWith(HEADER) ? HEADER : ''
    this.#segments = segments
  }

  /** One that can be changed without this one. */
  copy(): Shard {
    return new Shard(this.#file, this.source, this.#segments)
  }

  get keys(): Iterable<string> {
    return this.#parts().keys()
  }

  /** The numbers of the lines that belong to no host. */
  get strayLines(): readonly number[] {
    this.#stray ??= this.#strayLines()
    return this.#stray
  }

  #strayLines(): readonly number[] {
    const stray: number[] = []
    let line = linesIn(this.#header)
    for (const { key, raw } of this.#segments)
      for (const text of linesOf(raw)) {
        line += 1
        // The header is not the first segment if an administrator wrote above it.
        if (key === undefined && text !== HEADER) stray.push(line)
      }
    return stray
  }

  /** The part of one host. Undefined if there is none. */
  part(key: string): string | undefined {
    return this.#parts().get(key)
  }

  #parts(): ReadonlyMap<string, string> {
    if (this.#known) return this.#known
    const known = new Map<string, string>()
    for (const { key, raw } of this.#segments) if (key !== undefined) known.set(key, (known.get(key) ?? '') + raw)
    this.#known = known
    return known
  }

  /** The line at which the part of a host begins. */
  lineOf(key: string): number | undefined {
    this.#firstLines ??= this.#linesByKey()
    return this.#firstLines.get(key)
  }

  /** A list asks for every host of the file. */
  #linesByKey(): ReadonlyMap<string, number> {
    const lines = new Map<string, number>()
    let line = 1 + linesIn(this.#header)
    for (const { key, raw } of this.#segments) {
      if (key !== undefined && !lines.has(key)) lines.set(key, line)
      line += linesIn(raw)
    }
    return lines
  }

  /** Replaces a part. A new part goes before the first part with a greater key, or behind the last part. */
  put(key: string, raw: string | undefined): void {
    this.#stray = undefined
    this.#firstLines = undefined
    if (raw === undefined || raw === '') this.#known?.delete(key)
    else this.#known?.set(key, raw)
    const found = this.#segments.findIndex((segment) => segment.key === key)
    const next = this.#segments.findIndex((segment) => segment.key !== undefined && segment.key > key)
    const last = this.#segments.findLastIndex((segment) => segment.key !== undefined)
    const at = found >= 0 ? found : next >= 0 ? next : last + 1
    const isOther = (segment: Segment) => segment.key !== key
    const own = raw === undefined || raw === '' ? [] : [{ key, raw }]
    this.#segments = [
      ...this.#segments.slice(0, at).filter(isOther),
      ...own,
      ...this.#segments.slice(at).filter(isOther),
    ]
  }

  /** Null if the text has no part left. */
  get text(): string | null {
    return this.#segments.length === 0 ? null : this.#header + this.#segments.map(({ raw }) => raw).join('')
  }
}

function segmentsIn(file: string, source: string): readonly Segment[] {
  const body = source.startsWith(HEADER) ? source.slice(HEADER.length) : source
  return kindOf(file)
    .split(body === '' || body.endsWith('\n') ? body : `${body}\n`)
    .map(({ key, raw }) => ({
      key: key !== undefined && key !== '' && belongsIn(file, key) ? key : undefined,
      raw,
    }))
}

const linesIn = (text: string): number => text.split('\n').length - 1
