/** The two things that a host has in the world: an entry on the edge and a record in its zone. */
export type Part = 'entry' | 'record'

/** What somebody else put in the place of ours. */
export const FOREIGN = 'foreign'

/** Who changes the world: a run under a fence, with a request that is valid until its lease ends. */
export interface Hand {
  readonly runId: string
  readonly fence: number
  readonly validUntil: number
  /** The run was told to overwrite what somebody else wrote. */
  readonly overwrites: boolean
}

export interface Change {
  readonly part: Part
  readonly from: string | null
  readonly to: string | null
}

interface Effect extends Change {
  readonly runId: string
  readonly fence: number
  readonly at: number
}

/** A change that the world did not make. `late`: a newer run has come, or its time has passed. */
export class Refused extends Error {
  readonly isLate: boolean

  constructor(sentence: string, isLate: boolean) {
    super(sentence)
    this.isLate = isLate
  }
}

interface Edit {
  readonly was: string | null
  readonly now: string | null
}

/**
 * One host in a stand-in for the edge and the zone. It refuses a change under an older fence than the newest that it has
 * seen, and one whose time has passed, as a name server refuses an update with an old signature.
 */
export class World {
  readonly effects: Effect[] = []
  /** Changes that were refused although nothing held the run between its look at its lease and the change. */
  readonly unexcused: string[] = []
  /** Moments at which our record led to an edge without our entry. */
  readonly dangling: string[] = []
  /** Changes of what somebody else wrote, by a run that was not told to. */
  readonly trespasses: string[] = []
  readonly #now: () => number
  readonly #isFenced: boolean
  readonly #parts: Record<Part, string | null> = { entry: null, record: null }
  readonly #edits = new Map<Part, Edit>()
  /** The entry before the first change of each run. */
  readonly #before = new Map<string, string | null>()
  #newest = 0

  constructor(now: () => number, isFenced: boolean) {
    this.#now = now
    this.#isFenced = isFenced
  }

  get parts(): Readonly<Record<Part, string | null>> {
    return { ...this.#parts }
  }

  /** Reads a part. A look under a fence closes the world to all older fences. */
  look(part: Part, fence: number): string | null {
    this.#newest = Math.max(this.#newest, fence)
    return this.#parts[part]
  }

  write(change: Change, hand: Hand, wasHeld: boolean): void {
    const { part, from, to } = change
    const { runId, fence, validUntil, overwrites } = hand
    const sentence = `fence ${fence}: ${part} ${from} -> ${to}`
    if (this.#isFenced && (fence < this.#newest || this.#now() >= validUntil)) {
      if (!wasHeld) this.unexcused.push(sentence)
      throw new Refused(`${sentence} came too late`, true)
    }
    if (this.#parts[part] !== from) throw new Refused(`${part} is ${this.#parts[part]}, not ${from}`, false)
    if (from === FOREIGN && !overwrites) this.trespasses.push(sentence)
    this.#newest = Math.max(this.#newest, fence)
    if (part === 'entry' && !this.#before.has(runId)) this.#before.set(runId, from)
    this.#parts[part] = to
    this.effects.push({ part, from, to, runId, fence, at: this.#now() })
    const { entry, record } = this.#parts
    if (entry === null && record !== null && record !== FOREIGN && !this.isEdited('entry')) this.dangling.push(sentence)
  }

  /** The entry before a run changed it. Undefined if the run has not. */
  before(runId: string): string | null | undefined {
    return this.#before.get(runId)
  }

  /** A run has found what it would have written. An edit that made it so is not an edit any more. */
  confirm(part: Part): void {
    this.#edits.delete(part)
  }

  /** Somebody else changes a part. */
  edit(part: Part, to: string | null): void {
    const was = this.#parts[part]
    if (this.isEdited(part) || was === to) return
    this.#edits.set(part, { was, now: to })
    this.#parts[part] = to
  }

  get hasEdits(): boolean {
    return this.isEdited('entry') || this.isEdited('record')
  }

  /** Whether a part is as somebody else left it. */
  isEdited(part: Part): boolean {
    const edit = this.#edits.get(part)
    return edit !== undefined && edit.now === this.#parts[part]
  }

  /** Somebody puts the edited parts back as they were, so that a blocked run can be undone. */
  restore(): void {
    for (const [part, { was }] of this.#edits)
      if (this.isEdited(part)) {
        this.#parts[part] = was
        this.#edits.delete(part)
      }
  }

  /** Somebody puts the edited parts as the store says. */
  repair(owned: Readonly<Record<Part, string | null>>): void {
    for (const part of this.#edits.keys()) if (this.isEdited(part)) this.#parts[part] = owned[part]
    this.#edits.clear()
  }

  /** Somebody takes everything away. */
  clear(): void {
    Object.assign(this.#parts, { entry: null, record: null })
    this.#edits.clear()
  }
}
