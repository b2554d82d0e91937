import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { MOST_STRAY_FILES, MOST_STRAY_LINES, type StrayLines } from '../../model/host-status.ts'
import {
  contentOf,
  GATHERED_FOLDERS,
  Gathered,
  isIncluded,
  keptFile,
  mainPlaceOf,
  type Place,
  pemFolder,
  placesOf,
  siblingsOf,
} from '../config/gathered.ts'
import { BASE_FILE, blockFile, CURRENT, GENERATIONS, isOutside, linesFile, parsePath } from '../config/layout.ts'
import { generationIn, isOfFirstLayout } from '../config/render-base.ts'
import { idInEntry } from '../config/render-certificate.ts'
import { isBlockWithOptions } from '../config/render-options.ts'
import type { StandingEntry } from '../contract.ts'
import { type Found, faultOf, hashOfFound, lookAt } from '../files/files.ts'
import type { EntryLayout } from '../settings.ts'

/** The present generation of an edge, read from its disk. What did not change is not read again. */
export class PresentGeneration {
  readonly #folder: string
  readonly #files = new Map<string, Seen>()
  readonly #fresh = new Set<string>()
  #base: { readonly signature: string; readonly number: number | undefined } | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * The number of the generation that nginx includes. Where the base file is missing or is not ours, it is the one that was included
   * last: its hosts must not be lost. Undefined before the first one.
   */
  get number(): number | undefined {
    const path = join(this.#folder, BASE_FILE)
    if (this.#isFresh(BASE_FILE) && this.#base) return this.#base.number
    const signature = signatureOf(path)
    if (this.#base?.signature === signature) return this.#base.number
    const base = textAt(path) ?? ''
    const number = generationIn(base)
    this.#base = undefined
    if (number === undefined && !isOfFirstLayout(base)) return this.#lastNumber()
    this.#base = { signature, number }
    return number
  }

  #lastNumber(): number | undefined {
    const numbers = numbersIn(join(this.#folder, GENERATIONS))
    const linked = Number(/^generations\/(\d+)$/.exec(targetAt(join(this.#folder, CURRENT)) ?? '')?.[1])
    return numbers.includes(linked) ? linked : numbers.toSorted((a, b) => a - b).at(-1)
  }

  /** What stands at a path. Without a generation it is a file of its own, as in the first layout. */
  look(path: string): Found {
    const { kind } = parsePath(path)
    const { number } = this
    if (kind === 'base' || isOutside(path) || number === undefined) return lookAt(this.#folder, path)
    return this.#lookIn(number, path)
  }

  #lookIn(number: number, path: string): Found {
    const places = placesOf(path)
    const seen = places.map(({ file }) => this.#seen(number, file))
    const odd = seen.find(({ found }) => found.kind === 'link' || found.kind === 'other')
    if (odd) return odd.found
    const gathered = new Map(places.map(({ file }, at) => [file, seen[at]?.gathered]))
    const main = mainPlaceOf(path)
    // Without its main line an entry is missing: what is left of it serves nothing.
    if (!gathered.get(main.file)?.part(main.key)) return { kind: 'none' }
    const content = contentOf(path, (file) => gathered.get(file)) ?? ''
    const owners = seen.flatMap(({ found }) => (found.kind === 'file' ? [found.owner] : []))
    const owner = owners.find((one) => one !== process.getuid?.()) ?? process.getuid?.() ?? 0
    return { kind: 'file', content: Buffer.from(content), owner }
  }

  /** Whether a symbolic link stands where a file should be. */
  isLink(path: string): boolean {
    const { number } = this
    return number !== undefined && placesOf(path).some(({ file }) => this.#seen(number, file).found.kind === 'link')
  }

  /** Whether a file with this hash stands at the path, or stood there in a generation that is kept. */
  hasStood(path: string, hash: string): boolean {
    if (hashOfFound(path, this.look(path)).hash === hash) return true
    const { kind } = parsePath(path)
    if (kind === 'base' || isOutside(path)) return false
    return numbersIn(join(this.#folder, GENERATIONS)).some(
      (number) => hashOfFound(path, this.#lookIn(number, path)).hash === hash,
    )
  }

  /**
   * What stood at the places of a file when one of them was a symbolic link to the target: in the newest generation that is kept
   * and has it so. Undefined without one.
   */
  whenLinked(path: string, target: string): readonly StoodAt[] | undefined {
    const newestFirst = numbersIn(join(this.#folder, GENERATIONS)).toSorted((a, b) => b - a)
    for (const number of newestFirst) {
      const found = this.#lookIn(number, path)
      if (found.kind !== 'link' || found.target !== target) continue
      return placesOf(path).map((place) => {
        const { found: here, gathered } = this.#seen(number, place.file)
        const link = here.kind === 'link' ? here.target : undefined
        return { ...place, link, behind: gathered, part: gathered?.part(place.key) ?? null }
      })
    }
    return undefined
  }

  /**
   * A copy of a gathered file of the present generation, to be changed. Undefined when something else stands at its path.
   * `follows`: a symbolic link is replaced by what it leads to.
   */
  copy(file: string, follows = false): Gathered | undefined {
    const { number } = this
    if (number === undefined) return new Gathered(file)
    // Read in any case: the date of an edited file can be set back.
    const found = lookAt(this.#folder, `${GENERATIONS}/${number}/${file}`)
    if (found.kind === 'none') return new Gathered(file)
    if (found.kind === 'file') return new Gathered(file, found.content.toString())
    if (!follows) return undefined
    return new Gathered(file, textAt(join(this.#folder, GENERATIONS, String(number), file)) ?? '')
  }

  /**
   * What stood in a file that is missing now, for those who stand in other files of the present generation: from the newest
   * generation in which each had the same lines there. So nothing of a host that has changed since or is gone comes back.
   */
  lost(file: string): ReadonlyMap<string, string> {
    const { number } = this
    const lost = new Map<string, string>()
    if (number === undefined || lookAt(this.#folder, `${GENERATIONS}/${number}/${file}`).kind !== 'none') return lost
    const siblings = siblingsOf(file)
    const now = siblings.map((one) => this.#gatheredIn(number, one))
    const keys = new Set(siblings.length > 0 ? now.flatMap((one) => [...(one?.keys ?? [])]) : this.pairsInUse())
    const numbers = numbersIn(join(this.#folder, GENERATIONS)).filter((one) => one <= number)
    for (const former of numbers.toSorted((a, b) => b - a)) {
      const then = this.#gatheredIn(former, file) ?? this.#gatheredIn(former, file, keptFile(file))
      if (!then) continue
      const beside = siblings.map((one) => this.#gatheredIn(former, one))
      for (const key of keys) {
        const part = then.part(key)
        const isSame = beside.every((one, at) => one?.part(key) === now[at]?.part(key))
        if (part !== undefined && isSame && !lost.has(key)) lost.set(key, part)
      }
    }
    return lost
  }

  #gatheredIn(number: number, file: string, path = file): Gathered | undefined {
    const text = textAt(join(this.#folder, GENERATIONS, String(number), path))
    return text === null ? undefined : new Gathered(file, text)
  }

  /** Whether a part stands at a place. Also true for what is left of an entry whose main line is missing. */
  has({ file, key }: Pick<Place, 'file' | 'key'>): boolean {
    const { number } = this
    return number !== undefined && this.#seen(number, file).gathered?.part(key) !== undefined
  }

  /** Follows a symbolic link, as nginx does. Null also when something else than a file stands at the path. */
  content(path: string): string | null {
    const found = this.look(path)
    if (found.kind === 'link') return this.followed(path)
    return found.kind === 'file' ? found.content.toString() : null
  }

  /** The same, read from the disk in any case. */
  followed(path: string): string | null {
    const { number } = this
    if (number === undefined) return textAt(join(this.#folder, path))
    return contentOf(path, (file) => {
      const text = textAt(join(this.#folder, GENERATIONS, String(number), file))
      return text === null ? undefined : new Gathered(file, text)
    })
  }

  /**
   * Where a person finds the entry of a host: the path leads through the link to the present generation and stays the same; `line`
   * is null if the host has no entry.
   */
  whereIs(host: string): { readonly path: string; readonly line: number | null } {
    const entries = [blockFile(host), linesFile(host)].map(mainPlaceOf)
    const { number } = this
    const lines = entries.map((place) =>
      number === undefined ? undefined : this.#seen(number, place.file).gathered?.lineOf(place.key),
    )
    const at = lines.findIndex((line) => line !== undefined)
    return { path: join(this.#folder, CURRENT, entries.at(at)?.file ?? ''), line: lines[at] ?? null }
  }

  list(layout: EntryLayout): StandingEntry[] {
    const [entries, blocks, pairs] = ['entries', 'blocks', 'tls/hosts'].map((kind) => new Map(this.#partsOf(kind)))
    const hosts = new Set([...this.keysOf('backends'), ...(blocks?.keys() ?? [])])
    return [...hosts].map((host) => ({
      host,
      planId: PLAN_IN_ENTRY.exec(entries?.get(host) ?? blocks?.get(host) ?? '')?.[1],
      certificate: idInEntry(pairs?.get(host) ?? ''),
      // A host with options has a block in every layout.
      isInLayout: isBlockWithOptions(blocks?.get(host)) || (blocks?.has(host) ?? false) === (layout === 'blocks'),
    }))
  }

  /** The files that an earlier version wrote in another form, as this version writes them. Links of others stay. */
  rewritten(): Map<string, string> {
    const { number } = this
    const texts = new Map<string, string>()
    for (const kind of number === undefined ? [] : GATHERED_FOLDERS) {
      for (const name of namesIn(join(this.#folder, GENERATIONS, String(number), kind))) {
        const gathered = isIncluded(kind, name) ? this.copy(`${kind}/${name}`) : undefined
        if (gathered?.rewrite()) texts.set(`${kind}/${name}`, gathered.text ?? '')
      }
    }
    return texts
  }

  /** Lines that belong to no host, by file. The path leads through the link to the present generation. */
  stray(): readonly StrayLines[] {
    const { number } = this
    if (number === undefined) return []
    return GATHERED_FOLDERS.flatMap((kind) =>
      this.#filesOf(number, kind).flatMap(({ name, gathered }) => {
        const lines = gathered?.strayLines.slice(0, MOST_STRAY_LINES) ?? []
        return lines.length === 0 ? [] : [{ file: `${CURRENT}/${kind}/${name.replaceAll(/[^\w.-]/g, '?')}`, lines }]
      }),
    ).slice(0, MOST_STRAY_FILES)
  }

  secureHosts(): Iterable<string> {
    return this.keysOf('tls/hosts')
  }

  pairIds(): Iterable<string> {
    return this.keysOf(pemFolder('certificate', 1))
  }

  *pairsInUse(): Iterable<string> {
    for (const [, entry] of this.#partsOf('tls/hosts')) {
      const id = idInEntry(entry)
      if (id !== undefined) yield id
    }
  }

  /** All hosts or certificates that have a part in a folder of the generation. */
  *keysOf(kind: string): Iterable<string> {
    for (const [key] of this.#partsOf(kind)) yield key
  }

  *#partsOf(kind: string): Iterable<[string, string]> {
    const { number } = this
    if (number === undefined) return
    for (const { gathered } of this.#filesOf(number, kind))
      for (const key of gathered?.keys ?? []) yield [key, gathered?.part(key) ?? '']
  }

  #filesOf(number: number, kind: string): { readonly name: string; readonly gathered: Gathered | undefined }[] {
    return namesIn(join(this.#folder, GENERATIONS, String(number), kind))
      .filter((name) => isIncluded(kind, name))
      .map((name) => ({ name, gathered: this.#seen(number, `${kind}/${name}`).gathered }))
  }

  #seen(number: number, file: string): Seen {
    const path = `${GENERATIONS}/${number}/${file}`
    const known = this.#files.get(file)
    if (known && this.#isFresh(path)) return known
    const signature = signatureOf(join(this.#folder, path))
    // What a link leads to can change without it.
    if (known?.signature === signature && known.found.kind !== 'link') return known
    const found = lookAt(this.#folder, path)
    const text =
      found.kind === 'file' ? found.content.toString() : found.kind === 'link' ? textAt(join(this.#folder, path)) : null
    const seen: Seen = { signature, found, gathered: text === null ? undefined : new Gathered(file, text) }
    this.#files.set(file, seen)
    return seen
  }

  /** Whether the path was asked for before in the same turn of the event loop: thousands of hosts share few files. */
  #isFresh(path: string): boolean {
    if (this.#fresh.has(path)) return true
    if (this.#fresh.size === 0) queueMicrotask(() => this.#fresh.clear())
    this.#fresh.add(path)
    return false
  }
}

/** In the record of an entry and in the header of a block. */
const PLAN_IN_ENTRY = /(?:"planId":"|made by Drawbridge for )(plan_[0-9a-z]+)/

/** What stood at one place of a file. */
export interface StoodAt {
  readonly file: string
  readonly key: string
  /** The target of the symbolic link that stood there. */
  readonly link: string | undefined
  /** What it leads to now. */
  readonly behind: Gathered | undefined
  /** Of the host. */
  readonly part: string | null
}

interface Seen {
  readonly signature: string
  readonly found: Found
  readonly gathered: Gathered | undefined
}

const MISSING = 'missing'

/** Changes with the file at the path. A further link to the file does not change it: unchanged files pass from generation to generation. */
export function signatureOf(path: string): string {
  const found = statAt(path)
  return found ? `${found.ino} ${found.size} ${found.mtimeMs} ${found.uid} ${found.mode}` : MISSING
}

function statAt(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw faultOf(path, error)
  }
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** The numbers of the generations in a folder. */
export const numbersIn = (generations: string): number[] =>
  namesIn(generations).flatMap((name) => (/^[1-9]\d{0,14}$/.test(name) ? [Number(name)] : []))

const targetAt = (path: string): string | null => {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

const textAt = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
