import { EdgeFault } from '../../edge/contract/fault.ts'
import type { Challenge } from '../../edge/record/challenge.ts'
import type { Entry } from '../../edge/record/entry.ts'
import { MAX_PARTS } from '../../estate/layout.ts'
import type { Slices } from '../../primitives/slices.ts'
import { certificateLine, type Parts, renderParts } from '../config/render-entry.ts'
import {
  ENTRIES,
  fileOfShard,
  type HostKind,
  PEM_KINDS,
  pemFolder,
  Shard,
  shardFile,
  shardOf,
  TEXT_KINDS,
} from '../config/shards.ts'
import type { Listening } from '../config/sockets.ts'
import { type Pairs, renderPair } from './pairs.ts'
import type { PresentGeneration } from './present.ts'
import type { ShardHosts } from './shard-hosts.ts'
import { certificatesOf, lineOf, renderedAs, type Standing } from './standing.ts'

/** The text of a file of a generation. Null if the file is removed. */
export type ShardText = string | null

interface DraftShard {
  readonly files: Map<HostKind, Shard>
  /** The files that differ from those of the present generation. */
  readonly changed: Set<HostKind>
  /** The hosts of the shard in the present generation. */
  readonly hosts: ShardHosts
  /** Those that differ in the next generation. Null: removed. */
  readonly next: Map<string, Standing | Written | null>
}

interface Written {
  readonly entry: Entry
}

interface DraftParts {
  readonly present: PresentGeneration
  readonly pairs: Pairs
  readonly listening: Listening
}

/** The files of the next generation that differ from those of the present one. */
export class Draft {
  readonly #parts: DraftParts
  readonly #shards = new Map<string, DraftShard>()
  /** Whether anything that nginx reads differs. */
  #isServedOtherwise = false

  constructor(parts: DraftParts) {
    this.#parts = parts
  }

  /** Whether nginx has to be tested and reloaded. */
  get isServedOtherwise(): boolean {
    return this.#isServedOtherwise
  }

  /** Renders an entry. */
  put(entry: Entry, challenge?: Challenge): void {
    this.#put(entry, renderParts(entry, this.#parts.listening, challenge), challenge)
  }

  #put(entry: Entry, texts: Parts, challenge: Challenge | undefined): void {
    this.#write(entry.host, texts, lineOf(entry, texts, challenge))
    this.#shardWith(entry.host).next.set(entry.host, { entry })
  }

  remove(host: string): void {
    this.#write(host, new Map(), undefined)
    this.#shardWith(host).next.set(host, null)
  }

  /**
   * Restores a host from another generation, including text that Drawbridge did not write, or can write no more. Must not throw: the
   * other hosts of the draft would be refused with this one.
   */
  restore(standing: Standing): void {
    const { host, entry, challenge, parts, isEdited } = standing
    const rendered = isEdited ? undefined : renderedAs(standing, this.#parts.listening)
    if (entry && rendered) {
      this.#put(entry, rendered, challenge)
      return
    }
    const texts = new Map(parts)
    if (entry?.certificate) texts.set('tls/hosts', certificateLine(host, entry.certificate))
    this.#write(host, texts, entry && lineWith(standing))
    this.#shardWith(host).next.set(host, standing)
  }

  /** All files that differ, including the certificates that hosts need then. Thousands of hosts are read in slices. */
  async texts(slices: Slices): Promise<Map<string, ShardText>> {
    const texts = new Map<string, ShardText>()
    for (const [shard, { files, changed }] of this.#shards) {
      for (const kind of changed) texts.set(fileOfShard(kind, shard), files.get(kind)?.text ?? null)
      if (slices.isOver) await slices.next()
    }
    for (const [file, text] of await this.#pemTexts(slices)) texts.set(file, text)
    return texts
  }

  #write(host: string, texts: Parts, line: string | undefined): void {
    const { files, changed } = this.#shardWith(host)
    const put = (kind: HostKind, text: string | undefined) => {
      const file = files.get(kind) ?? new Shard(shardFile(kind, host))
      if (file.part(host) === text) return
      file.put(host, text)
      files.set(kind, file)
      changed.add(kind)
      if (kind !== ENTRIES) this.#isServedOtherwise = true
    }
    for (const kind of TEXT_KINDS) put(kind, texts.get(kind))
    put(ENTRIES, line)
  }

  #shardWith(host: string): DraftShard {
    const shard = shardOf(host)
    const known = this.#shards.get(shard)
    if (known) return known
    const { files, hosts } = this.#parts.present.copyOf(shard)
    const present = [...files].flatMap(([kind, file]): [HostKind, Shard][] => (file ? [[kind, file]] : []))
    // Replaces a link, or a file of another user, by a file of ours.
    const odd = [...files.keys()].filter((kind) => this.#parts.present.isOdd(fileOfShard(kind, shard)))
    const draft: DraftShard = { files: new Map(present), changed: new Set(odd), hosts, next: new Map() }
    this.#shards.set(shard, draft)
    this.#restoreMissing(draft)
    return draft
  }

  /** Renders a deleted file again from the records. A host that cannot be rendered any more stays unchanged. */
  #restoreMissing({ files, changed, hosts }: DraftShard): void {
    const missing = TEXT_KINDS.filter((kind) => !files.has(kind))
    if (missing.length === 0) return
    for (const standing of hosts.values()) {
      if (!standing.isEdited) continue
      const { host } = standing
      const texts = renderedAs(standing, this.#parts.listening)
      for (const kind of missing) {
        const text = texts?.get(kind)
        if (text === undefined) continue
        const file = files.get(kind) ?? new Shard(shardFile(kind, host))
        file.put(host, text)
        files.set(kind, file)
        changed.add(kind)
        this.#isServedOtherwise = true
      }
    }
  }

  /** nginx's files contain exactly the certificates that hosts name. */
  async #pemTexts(slices: Slices): Promise<Map<string, ShardText>> {
    const { present, pairs } = this.#parts
    const needed = await this.#certificates(slices)
    const there = present.pemIds()
    const changed = new Map<string, Shard>()
    const put = (folder: string, id: string, text: string | undefined) => {
      const file = shardFile(folder, id)
      const shard = changed.get(file) ?? present.copyOfPem(folder, id)
      if (shard.part(id) === text) return
      shard.put(id, text)
      changed.set(file, shard)
      this.#isServedOtherwise = true
    }
    for (const id of needed) {
      if (present.hasPem(id)) continue
      const pair = pairs.find(id)
      if (!pair) throw noPair(id)
      for (const [folder, text] of renderPair(id, pair)) put(folder, id, text)
      if (slices.isOver) await slices.next()
    }
    for (const id of there)
      if (!needed.has(id))
        for (const kind of PEM_KINDS)
          for (let part = 1; part <= MAX_PARTS[kind]; part += 1) put(pemFolder(kind, part), id, undefined)
    return new Map([...changed].map(([file, shard]) => [file, shard.text]))
  }

  async #certificates(slices: Slices): Promise<ReadonlySet<string>> {
    const ids = new Set<string>()
    const { present, pairs } = this.#parts
    const add = (one: Standing | Written) => {
      const record = one.entry?.certificate
      // An administrator may have written an id that the edge does not have.
      for (const id of 'parts' in one ? certificatesOf(one) : [record])
        if (id && (id === record || pairs.has(id) || present.hasPem(id))) ids.add(id)
    }
    for (const standing of present.all()) {
      if (!this.#shards.has(shardOf(standing.host))) add(standing)
      if (slices.isOver) await slices.next()
    }
    for (const { hosts, next } of this.#shards.values()) {
      for (const host of new Set([...hosts.names, ...next.keys()])) {
        const one = next.has(host) ? next.get(host) : hosts.get(host)
        if (one) add(one)
        if (slices.isOver) await slices.next()
      }
    }
    return ids
  }
}

/** The record of an edited host keeps the digest of the rendered text, so that the edit stays detectable. */
function lineWith({ entry, challenge, host, rendered }: Standing): string {
  return `${JSON.stringify({ host, entry, ...(challenge && { challenge }), text: rendered ?? '' })}\n`
}

const noPair = (id: string): EdgeFault =>
  new EdgeFault('change_invalid', `The edge does not have the certificate with the id ${id}. Nothing was changed.`)
