import { MAX_PARTS, parsePath } from './layout.ts'
import { ANSWERS, BY_HOST, CHALLENGES, readBlock, SERVER_NAME, type Writing, writtenBlock } from './written-lines.ts'

/**
 * The files of a generation. nginx needs far longer to open a thousand small files than to read a few large ones, so the texts of
 * all hosts are gathered: one folder for each kind of text, and in it at most SHARDS files. A host is always in the same one.
 */
const SHARDS = 64

interface Kind {
  /** Of the file name. */
  readonly ending: 'conf' | 'map' | 'json'
  readonly secret?: boolean
  /** Default: lines are written as they are. */
  readonly writing?: Writing
  readonly split: (text: string) => Segment[]
}

/** A piece of a gathered file as it stands there. Together the pieces are the whole text. */
interface Segment {
  /** The host or the id of the certificate that it belongs to. Undefined: somebody else wrote it. */
  readonly key: string | undefined
  readonly raw: string
}

const HEADER = '# Made by Drawbridge. What is changed here by hand is not overwritten, but reported.\n'
const BLOCK = '#: '

const byLine = (pattern: RegExp, writing?: Writing): Pick<Kind, 'split' | 'writing'> => ({
  ...(writing && { writing }),
  split: (text) => linesOf(text).map((raw) => ({ key: pattern.exec(writing?.read(raw) ?? raw)?.[1], raw })),
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
  ending: 'conf',
  ...byLine(/^\s*server_name\s+([a-z0-9_-]+(?:\.[a-z0-9_-]+)+)\s*;/, SERVER_NAME),
}
const VALUES: Kind = { ending: 'map', ...byLine(/^\s*([a-z0-9_-]+(?:\.[a-z0-9_-]+)+)\s/, BY_HOST) }
const QUESTION = /^\s*"([a-z0-9_-]+(?:\.[a-z0-9_-]+)+) /

export const CERTIFICATE_KINDS = ['certificate', 'key'] as const
const pemKinds = CERTIFICATE_KINDS.flatMap((kind) =>
  Array.from({ length: MAX_PARTS[kind] }, (_, at): [string, Kind] => [
    pemFolder(kind, at + 1),
    { ending: 'map', secret: true, split: byCertificate },
  ]),
)

/** By folder. */
const KINDS: Readonly<Record<string, Kind>> = {
  // Not for nginx: what each entry is about.
  entries: { ending: 'json', ...byLine(/^\{"host":"([a-z0-9._-]+)"/) },
  'names-http': NAMES,
  'names-https': NAMES,
  backends: VALUES,
  answers: { ending: 'map', ...byLine(QUESTION, ANSWERS) },
  challenges: { ending: 'map', ...byLine(QUESTION, CHALLENGES) },
  blocks: { ending: 'conf', split: byBlock },
  'tls/hosts': { ...VALUES, secret: true },
  ...Object.fromEntries(pemKinds),
}

export const GATHERED_FOLDERS: readonly string[] = Object.keys(KINDS)

/** An entry as lines: each line begins with one of these words, which says where it stands in the generation. */
const LINES = {
  entry: 'entries',
  http: 'names-http',
  https: 'names-https',
  backend: 'backends',
  answer: 'answers',
  challenge: 'challenges',
}
/** The folders with the lines of an entry that stay as long as its plan. */
const STANDING: readonly string[] = Object.values(LINES).filter((folder) => folder !== LINES.challenge)
/** In contents of backups that earlier versions made: below it stands what belongs to no host. */
const STRAY_BELOW = '#? Somebody else wrote into the same file:\n'

export function pemFolder(kind: (typeof CERTIFICATE_KINDS)[number], part: number): string {
  return `tls/${kind}s-${part}`
}

/** Whether a file of this name belongs to a folder of the generation. Editors leave others there. */
export const isIncluded = (folder: string, name: string): boolean =>
  !name.startsWith('.') && name.endsWith(`.${KINDS[folder]?.ending}`)

/** What nginx includes of one kind. */
export const gatheredGlob = (folder: string): string => `${folder}/*.${KINDS[folder]?.ending}`

/** The kind of a gathered file, by its path in the generation. */
const kindOf = (file: string): Kind => {
  const kind = KINDS[file.slice(0, file.lastIndexOf('/'))]
  if (!kind) throw new Error(`${file} is not a file of a generation.`)
  return kind
}

export const isSecretFile = (file: string): boolean => kindOf(file).secret ?? false

export interface Place {
  /** The path in the generation. */
  readonly file: string
  readonly key: string
  /** The first word of its lines in the entry; undefined where the part is the whole text. */
  readonly word?: string
}

/** Where the parts of a file stand. Throws for a path that is not gathered. */
export function placesOf(path: string): readonly Place[] {
  const parsed = parsePath(path)
  switch (parsed.kind) {
    case 'lines':
      return Object.entries(LINES).map(([word, folder]) => ({ ...placeIn(folder, parsed.host), word }))
    case 'block':
      return [placeIn('blocks', parsed.host)]
    case 'certificate entry':
      return [placeIn('tls/hosts', parsed.host)]
    case 'certificate': {
      const kind = parsed.secret ? 'key' : 'certificate'
      const part = Number(/-(\d)\.map$/.exec(path)?.[1] ?? 1)
      return [placeIn(pemFolder(kind, part), parsed.id)]
    }
    default:
      throw new Error(`${path} is not gathered.`)
  }
}

/** The place of an entry that says where its host is proxied to. */
export function mainPlaceOf(path: string): Place {
  const [first, ...others] = placesOf(path)
  const main = others.find(({ word }) => word === 'backend') ?? first
  if (!main) throw new Error(`${path} has no place.`)
  return main
}

const placeIn = (folder: string, key: string): Place => ({
  file: `${folder}/${shardOf(key)}.${KINDS[folder]?.ending}`,
  key,
})

/** By FNV-1a: it is asked for thousands of hosts at once, and need not withstand anybody. */
function shardOf(key: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return String((hash >>> 0) % SHARDS).padStart(2, '0')
}

/**
 * A generation has a second name for each file that it changed, out of the way of whoever removes files from its folders. There is
 * none for private keys: those leave a generation when the next but one comes.
 */
export const KEPT = '.kept'
export const keptFile = (file: string): string => `${KEPT}/${file.replaceAll('/', '-')}`

/** The files with the lines of the same hosts as a file, without that file. Empty for a file that has no lines of hosts. */
export function siblingsOf(file: string): readonly string[] {
  const [folder = '', name = ''] = [file.slice(0, file.lastIndexOf('/')), file.slice(file.lastIndexOf('/') + 1)]
  if (folder !== 'tls/hosts' && !STANDING.includes(folder)) return []
  const shard = name.slice(0, name.lastIndexOf('.'))
  return STANDING.filter((other) => other !== folder).map((other) => `${other}/${shard}.${KINDS[other]?.ending}`)
}

/** Whether a text of this key may stand in the file. What others wrote there looks like one of ours at times. */
function belongsIn(file: string, key: string): boolean {
  const shard = /\/(\d\d)\.(?:conf|map|json)$/.exec(file)?.[1]
  return shard === undefined || shard === shardOf(key)
}

/** The text of one gathered file. What is not changed keeps its place, byte for byte. */
export class Gathered {
  readonly #isBlocks: boolean
  readonly #writing: Writing | undefined
  readonly #header: string
  #segments: Segment[]
  #known: ReadonlyMap<string, string> | undefined

  constructor(file: string, text = '') {
    this.#isBlocks = file.startsWith('blocks/')
    this.#writing = kindOf(file).writing
    this.#header = text === '' || text.startsWith(HEADER) ? HEADER : ''
    const body = text.startsWith(HEADER) ? text.slice(HEADER.length) : text
    const segments = kindOf(file).split(body === '' || body.endsWith('\n') ? body : `${body}\n`)
    this.#segments = segments.map(({ key, raw }) => ({
      key: key !== undefined && belongsIn(file, key) ? key : undefined,
      raw,
    }))
  }

  get keys(): Iterable<string> {
    return this.#parts().keys()
  }

  /** The numbers of the lines that belong to no host. */
  get strayLines(): readonly number[] {
    const stray: number[] = []
    let line = linesIn(this.#header)
    for (const { key, raw } of this.#segments)
      for (const text of linesOf(raw)) {
        line += 1
        // The header comes second when somebody wrote above it.
        if (key === undefined && text !== HEADER) stray.push(line)
      }
    return stray
  }

  /** The part of one host. Undefined without one. */
  part(key: string): string | undefined {
    return this.#parts().get(key)
  }

  #parts(): ReadonlyMap<string, string> {
    if (this.#known) return this.#known
    const known = new Map<string, string>()
    for (const { key, raw } of this.#segments)
      if (key !== undefined) known.set(key, (known.get(key) ?? '') + this.#textIn(key, raw))
    this.#known = known
    return known
  }

  /** The line at which the part of a host begins. */
  lineOf(key: string): number | undefined {
    const at = this.#segments.findIndex((segment) => segment.key === key)
    if (at < 0) return undefined
    return (
      1 +
      [this.#header, ...this.#segments.slice(0, at).map(({ raw }) => raw)].reduce((sum, raw) => sum + linesIn(raw), 0)
    )
  }

  /** A part that is not there yet comes before the first part with a greater key, or behind the last part. */
  put(key: string, text: string | null): void {
    this.#known = undefined
    const found = this.#segments.findIndex((segment) => segment.key === key)
    const next = this.#segments.findIndex((segment) => segment.key !== undefined && segment.key > key)
    const last = this.#segments.findLastIndex((segment) => segment.key !== undefined)
    const at = found >= 0 ? found : next >= 0 ? next : last + 1
    const isOther = (segment: Segment) => segment.key !== key
    const own = text === null || text === '' ? [] : [{ key, raw: this.#written(key, text) }]
    this.#segments = [
      ...this.#segments.slice(0, at).filter(isOther),
      ...own,
      ...this.#segments.slice(at).filter(isOther),
    ]
  }

  /** Writes every part as this version does, see `Writing`. False if it was so already. */
  rewrite(): boolean {
    const before = this.text
    this.#segments = this.#segments.map(({ key, raw }) => ({
      key,
      raw: key === undefined ? raw : this.#written(key, this.#textIn(key, raw)),
    }))
    return this.text !== before
  }

  #textIn(key: string, raw: string): string {
    if (this.#isBlocks) return readBlock(key, raw.slice(raw.indexOf('\n') + 1, -1))
    return this.#writing ? linesOf(raw).map(this.#writing.read).join('') : raw
  }

  #written(key: string, text: string): string {
    if (this.#isBlocks) return `${BLOCK}${key}\n${writtenBlock(key, text)}\n`
    return this.#writing ? linesOf(text).map(this.#writing.written).join('') : text
  }

  /** Null when nothing is left. */
  get text(): string | null {
    return this.#segments.length === 0 ? null : this.#header + this.#segments.map(({ raw }) => raw).join('')
  }
}

const linesIn = (text: string): number => text.split('\n').length - 1

/**
 * The content of a file, from its parts. Null when none of them is there. Lines of nobody in the same gathered files are no part
 * of it. `gathered`: undefined for a file that is missing.
 */
export function contentOf(path: string, gathered: (file: string) => Gathered | undefined): string | null {
  const found = placesOf(path).flatMap(({ file, key, word }) => {
    const text = gathered(file)?.part(key)
    return text === undefined ? [] : [word === undefined ? text : marked(`${word} `, text)]
  })
  return found.length === 0 ? null : found.join('')
}

/** What of the content stands at a place. */
export function partOf(content: string | null, { word }: Pick<Place, 'word'>): string | null {
  if (content === null) return null
  if (word === undefined) {
    const at = content.lastIndexOf(STRAY_BELOW)
    return at < 0 ? content : content.slice(0, at)
  }
  const mark = `${word} `
  return (
    linesOf(content)
      .flatMap((line) => (line.startsWith(mark) ? [line.slice(mark.length)] : []))
      .join('') || null
  )
}

const marked = (mark: string, text: string): string =>
  linesOf(text)
    .map((line) => mark + line)
    .join('')
