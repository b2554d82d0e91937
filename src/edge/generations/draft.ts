import { Gathered, partOf, placesOf } from '../config/gathered.ts'
import { type EdgeChange, EdgeFault, type EdgeFile } from '../contract.ts'
import type { PresentGeneration, StoodAt } from './present.ts'

/** The text of a gathered file: null if it goes, or the target of a symbolic link that an undo puts back. */
export type GatheredText = string | null | { readonly link: string }

/** Whether a missing file gets back what others had in it, and whether a symbolic link in its place becomes a file. */
export type Manner = Pick<EdgeChange, 'mends' | 'replacesLinks'>

/** The gathered files of the next generation that differ from those of the present one. */
export class Draft {
  readonly #present: PresentGeneration
  readonly #changed = new Map<string, Gathered>()
  readonly #links = new Map<string, string>()
  /** Files that were missing, with what others had in them. */
  readonly #lost = new Map<string, ReadonlyMap<string, string>>()
  /** The hosts and certificates that a change is about. */
  readonly #touched = new Set<string>()

  constructor(present: PresentGeneration) {
    this.#present = present
  }

  put({ path, content, link }: EdgeFile, manner: Manner): void {
    if (link !== undefined) {
      this.#putBack(path, link)
      return
    }
    const isLink = this.#present.isLink(path)
    for (const place of placesOf(path)) {
      this.#touched.add(place.key)
      const own = partOf(content, place)
      if (own === null && !this.#present.has(place) && !isLink) continue
      this.#at(place.file, manner).put(place.key, own)
    }
  }

  get texts(): Map<string, GatheredText> {
    for (const [file, lost] of this.#lost)
      for (const [key, part] of lost) if (!this.#touched.has(key)) this.#changed.get(file)?.put(key, part)
    this.#lost.clear()
    const texts = new Map<string, GatheredText>([...this.#changed].map(([file, gathered]) => [file, gathered.text]))
    for (const [file, link] of this.#links) texts.set(file, { link })
    return texts
  }

  #at(file: string, { mends, replacesLinks }: Manner): Gathered {
    const gathered = this.#changed.get(file) ?? this.#present.copy(file, replacesLinks)
    if (!gathered) throw new EdgeFault('changed_meanwhile', `${file} is not a regular file. Move it away.`)
    if (mends && !this.#lost.has(file)) this.#lost.set(file, this.#present.lost(file))
    this.#changed.set(file, gathered)
    return gathered
  }

  /** A link is put back only if the other hosts in its file are the same behind it. */
  #putBack(path: string, link: string): void {
    const stood = this.#present.whenLinked(path, link)
    if (!stood?.every((place) => place.link === undefined || this.#isSameBehind(place)))
      throw new EdgeFault('changed_meanwhile', `${path} was a symbolic link. It cannot be put back.`)
    for (const { file, key, link: target, part } of stood) {
      if (target !== undefined) this.#links.set(file, target)
      else if (part !== null || this.#present.has({ file, key })) this.#at(file, {}).put(key, part)
    }
  }

  #isSameBehind({ file, key, behind }: StoodAt): boolean {
    const now = this.#present.copy(file, true) ?? new Gathered(file)
    const others = new Set([...now.keys, ...(behind?.keys ?? [])])
    others.delete(key)
    return [...others].every((other) => now.part(other) === behind?.part(other))
  }
}
