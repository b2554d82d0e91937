/** The two things that a host has in the world: an entry on the edge and a record in its zone. */
export type Part = 'entry' | 'record'

/** What somebody else put in the place of ours. */
export const FOREIGN = 'foreign'

/** Who changes the world: a run under a fence, with a request that is valid until its lease ends. */
export interface Hand {
  readonly runId: string
  readonly fence: number
  readonly validUntil: number
}

export interface Change {
  readonly part: Part
  readonly from: string | null
  readonly to: string | null
}

export interface Effect extends Change {
  readonly runId: string
  readonly fence: number
  readonly at: number
}

/** A change that came too late. */
export class Refused extends Error {}

/**
 * One host in a stand-in for the edge and the zone. It refuses a change under an older fence than the newest that it has
 * seen, and one whose time has passed, as a name server refuses an update with an old signature.
 */
export class World {
  readonly effects: Effect[] = []
  /** Changes that were refused although nothing held the run between its look at its lease and the change. */
  readonly unexcused: string[] = []
  /** Moments at which the record led to an edge without the entry. */
  readonly dangling: string[] = []
  readonly #now: () => number
  readonly #isFenced: boolean
  readonly #parts: Record<Part, string | null> = { entry: null, record: null }
  readonly #covered = new Map<Part, string | null>()
  #newest = 0

  constructor(now: () => number, isFenced: boolean) {
    this.#now = now
    this.#isFenced = isFenced
  }

  /** Reads a part. A look under a fence closes the world to all older fences. */
  look(part: Part, fence: number): string | null {
    this.#newest = Math.max(this.#newest, fence)
    return this.#parts[part]
  }

  write({ part, from, to }: Change, { runId, fence, validUntil }: Hand, wasHeld: boolean): void {
    if (this.#isFenced && (fence < this.#newest || this.#now() >= validUntil)) {
      const sentence = `fence ${fence}: ${part} ${from} -> ${to} was refused`
      if (!wasHeld) this.unexcused.push(sentence)
      throw new Refused(sentence)
    }
    if (this.#parts[part] !== from) throw new Refused(`${part} is ${this.#parts[part]}, not ${from}`)
    this.#newest = Math.max(this.#newest, fence)
    this.#parts[part] = to
    this.effects.push({ part, from, to, runId, fence, at: this.#now() })
    const { entry, record } = this.#parts
    if (entry === null && record !== null && record !== FOREIGN) this.dangling.push(`${part} ${from} -> ${to}`)
  }

  /** Somebody else overwrites a part. */
  edit(part: Part): void {
    if (this.#covered.has(part)) return
    this.#covered.set(part, this.#parts[part])
    this.#parts[part] = FOREIGN
  }

  /** Somebody puts the edited parts back as they were. */
  restore(): void {
    for (const [part, value] of this.#covered) this.#parts[part] = value
    this.#covered.clear()
  }

  isEdited(part: Part): boolean {
    return this.#covered.has(part)
  }

  get parts(): Readonly<Record<Part, string | null>> {
    return { ...this.#parts }
  }
}
