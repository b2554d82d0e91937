import { join } from 'node:path'
import type { Place } from '../../edge/engine/web-server.ts'
import { CURRENT, GENERATIONS } from '../../edge/layout.ts'
import { BASE_FILE } from '../../estate/layout.ts'
import { generationIn } from '../../estate/reading/base-file.ts'
import { MOST_STRAY_FILES, MOST_STRAY_LINES, type StrayLines } from '../../model/host-status.ts'
import type { Slices } from '../../primitives/slices.ts'
import { certificateIn } from '../config/render-entry.ts'
import {
  ENTRIES,
  fileOfShard,
  type HostKind,
  isIncluded,
  PEM_KINDS,
  pemFolder,
  SHARD_FOLDERS,
  Shard,
  shardFile,
  shardOf,
  TEXT_KINDS,
} from '../config/shards.ts'
import { enteredNumber, isKept } from './included.ts'
import { isLink, namesIn, type Seen, SeenFiles, signatureOf, statAt, textAt } from './seen-files.ts'
import { ShardHosts } from './shard-hosts.ts'
import { type Standing, standingOf } from './standing.ts'

/** The generations of an edge, read from its disk. Unchanged files are not read again. */
export class PresentGeneration {
  readonly #folder: string
  readonly #files: SeenFiles
  readonly #shards = new Map<string, SeenShard>()
  #base: { readonly signature: string; readonly named: number | undefined } | undefined
  #number: number | undefined

  constructor(folder: string) {
    this.#folder = folder
    this.#files = new SeenFiles(folder)
  }

  /** See `enteredNumber`. Throws an EdgeFault if the base file cannot be read. */
  get number(): number | undefined {
    if (this.#files.isFresh(BASE_FILE) && this.#number !== undefined) return this.#number
    return this.#files.checking(() => this.#enteredNumber())
  }

  /** Whether nginx includes this generation. Otherwise somebody has put another base file in the place of ours. */
  get isIncluded(): boolean {
    const { number } = this
    return number !== undefined && number === this.#base?.named
  }

  #enteredNumber(): number | undefined {
    const path = join(this.#folder, BASE_FILE)
    const signature = signatureOf(path)
    if (this.#base?.signature !== signature) this.#base = { signature, named: generationIn(textAt(path) ?? '') }
    this.#number = enteredNumber(this.#folder, this.#base.named)
    return this.#number
  }

  /** A host of the present generation. Undefined if nothing exists for it. */
  find(host: string): Standing | undefined {
    const { number } = this
    return number === undefined ? undefined : this.#shard(number, shardOf(host)).get(host)
  }

  /** A host of a kept generation. */
  findIn(number: number, host: string): Standing | undefined {
    const files = new Map(HOST_FILES.map((kind) => [kind, this.#shardIn(number, shardFile(kind, host))]))
    return standingOf(host, (kind) => files.get(kind)?.part(host))
  }

  /** The ids of the certificates that hosts of a kept generation need, by their records and by their lines. */
  async certificatesIn(number: number, slices: Slices): Promise<ReadonlySet<string>> {
    const ids = new Set<string>()
    for (const [kind, idIn] of CERTIFICATE_NAMES)
      for (const name of this.#namesOf(number, kind)) {
        if (slices.isOver) await slices.next()
        const shard = this.#shardIn(number, `${kind}/${name}`)
        for (const host of shard?.keys ?? []) {
          const id = idIn(shard?.part(host) ?? '')
          if (id !== undefined) ids.add(id)
        }
      }
    return ids
  }

  isKept(number: number): boolean {
    return isKept(this.#folder, number)
  }

  /** All hosts. */
  *all(): Iterable<Standing> {
    const { number } = this
    if (number === undefined) return
    for (const shard of this.#shardNames(number)) yield* this.#shard(number, shard).values()
  }

  /** The hosts of one shard, and its files for changes. Always read from the disk: an editor can reset the date of a file. */
  copyOf(shard: string): {
    readonly files: ReadonlyMap<HostKind, Shard | undefined>
    readonly hosts: ShardHosts
  } {
    const { number } = this
    const known = this.#shards.get(shard)
    const read = HOST_FILES.map((kind, at) =>
      number === undefined ? undefined : this.#shardIn(number, fileOfShard(kind, shard), known?.seen[at]?.shard),
    )
    const same = known?.seen.every((one, at) => one.shard === read[at] && !one.isLink) ? known.hosts : undefined
    return {
      files: new Map(HOST_FILES.map((kind, at) => [kind, read[at]?.copy()])),
      hosts: same ?? new ShardHosts(filesOf(read), false),
    }
  }

  /** A copy of a file of certificates, for changes. */
  copyOfPem(folder: string, id: string): Shard {
    const { number } = this
    const file = shardFile(folder, id)
    return (number === undefined ? undefined : this.#shardIn(number, file)) ?? new Shard(file)
  }

  /** The ids of all certificates in nginx's files. */
  pemIds(): ReadonlySet<string> {
    const { number } = this
    if (number === undefined) return new Set()
    return new Set(
      FIRST_PEMS.flatMap((folder) =>
        this.#namesOf(number, folder).flatMap((name) => [
          ...(this.#files.seen(number, `${folder}/${name}`).shard?.keys ?? []),
        ]),
      ),
    )
  }

  /** Whether nginx reads a certificate and its key. */
  hasPem(id: string): boolean {
    const { number } = this
    return (
      number !== undefined &&
      FIRST_PEMS.every((folder) => this.#files.seen(number, shardFile(folder, id)).shard?.part(id) !== undefined)
    )
  }

  /**
   * The place of a host's entry, for people. The path uses the link to the present generation, so it stays the same. `line` is null
   * if the host has no entry.
   */
  whereIs(host: string, kinds: readonly HostKind[] = ['blocks', 'backends']): Place {
    const { number } = this
    const places = kinds.map((kind) => {
      const file = shardFile(kind, host)
      return { file, line: number === undefined ? undefined : this.#files.seen(number, file).shard?.lineOf(host) }
    })
    const found = places.find(({ line }) => line !== undefined) ?? places.at(-1)
    return { file: join(this.#folder, CURRENT, found?.file ?? ''), line: found?.line ?? null }
  }

  /** The hosts whose texts are in the same files, this one included. */
  sharingFilesOf(host: string): readonly string[] {
    const { number } = this
    return number === undefined ? [] : [...this.#shard(number, shardOf(host)).names]
  }

  /** The id of another user who owns a file of the host. */
  foreignOwnerOf(host: string): number | undefined {
    const { number } = this
    return number === undefined ? undefined : this.#seenShard(number, shardOf(host)).foreignOwner
  }

  /** The kind of a file of the host that was replaced by a link. */
  linkOf(host: string): HostKind | undefined {
    const { number } = this
    if (number === undefined) return undefined
    return HOST_FILES.find((kind) => isLink(join(this.#folder, GENERATIONS, String(number), shardFile(kind, host))))
  }

  /** Whether a file of the present generation is a link, or owned by another user. */
  isOdd(file: string): boolean {
    const { number } = this
    if (number === undefined) return false
    const found = statAt(join(this.#folder, GENERATIONS, String(number), file))
    return found !== undefined && (found.isSymbolicLink() || found.uid !== process.getuid?.())
  }

  /** Lines that belong to no host, by file. The path uses the link to the present generation. */
  async stray(slices: Slices): Promise<readonly StrayLines[]> {
    const { number } = this
    if (number === undefined) return []
    const stray: StrayLines[] = []
    for (const kind of SHARD_FOLDERS) {
      for (const name of this.#namesOf(number, kind)) {
        if (slices.isOver) await slices.next()
        const lines = this.#files.seen(number, `${kind}/${name}`).shard?.strayLines.slice(0, MOST_STRAY_LINES) ?? []
        if (lines.length > 0) stray.push({ file: `${CURRENT}/${kind}/${name.replaceAll(/[^\w.-]/g, '?')}`, lines })
        if (stray.length === MOST_STRAY_FILES) return stray
      }
    }
    return stray
  }

  /** The text of a file of the present generation. Follows a link, as nginx does. */
  textOf(file: string): string | null {
    const { number } = this
    return number === undefined ? null : textAt(join(this.#folder, GENERATIONS, String(number), file))
  }

  #shard(number: number, shard: string): ShardHosts {
    return this.#seenShard(number, shard).hosts
  }

  #seenShard(number: number, shard: string): SeenShard {
    const known = this.#shards.get(shard)
    if (this.#files.isFresh(`${number} ${shard}`) && known?.number === number) return known
    const now = this.#lookAt(number, shard, known)
    this.#shards.set(shard, now)
    return now
  }

  #lookAt(number: number, shard: string, known: SeenShard | undefined): SeenShard {
    const seen = HOST_FILES.map((kind) => this.#files.seen(number, fileOfShard(kind, shard)))
    if (known && seen.every((one, at) => one === known.seen[at])) return { ...known, number }
    const files = filesOf(seen.map((one) => one.shard))
    const isLinked = seen.some((one) => one.isLink)
    const hosts = new ShardHosts(files, isLinked)
    const owners = seen.flatMap(({ owner }) => owner ?? [])
    return { number, seen, hosts, foreignOwner: owners.find((owner) => owner !== process.getuid?.()) }
  }

  #shardNames(number: number): ReadonlySet<string> {
    return new Set(
      HOST_FILES.flatMap((kind) =>
        this.#namesOf(number, kind).flatMap((name) => (/^\d\d\./.test(name) ? [name.slice(0, 2)] : [])),
      ),
    )
  }

  #namesOf(number: number, kind: string): string[] {
    return namesIn(join(this.#folder, GENERATIONS, String(number), kind)).filter((name) => isIncluded(kind, name))
  }

  /** `known`: is taken if its text is still the same. */
  #shardIn(number: number, file: string, known?: Shard): Shard | undefined {
    const text = textAt(join(this.#folder, GENERATIONS, String(number), file))
    if (text === null) return undefined
    return known?.source === text ? known : new Shard(file, text)
  }
}

/** Where a host names a certificate, and how: see `certificatesOf`. To work out every host of a kept generation would take longer. */
const CERTIFICATE_NAMES: readonly (readonly [HostKind, (part: string) => string | undefined])[] = [
  [ENTRIES, (line) => /"certificate":"([0-9a-f]{32})"/.exec(line)?.[1]],
  ['tls/hosts', certificateIn],
]
const FIRST_PEMS = PEM_KINDS.map((kind) => pemFolder(kind, 1))
const HOST_FILES: readonly HostKind[] = [ENTRIES, ...TEXT_KINDS]

interface SeenShard {
  readonly number: number
  readonly seen: readonly Seen[]
  readonly hosts: ShardHosts
  /** The id of another user who owns one of the files. */
  readonly foreignOwner: number | undefined
}

const filesOf = (shards: readonly (Shard | undefined)[]): ReadonlyMap<HostKind, Shard | undefined> =>
  new Map(HOST_FILES.map((kind, at) => [kind, shards[at]]))
