import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { faultOf, unlessNone } from '../../edge/faults.ts'
import { GENERATIONS } from '../../edge/layout.ts'
import { textFromBytes } from '../../primitives/lossless-text.ts'
import { Shard } from '../config/shards.ts'

/** A file of a generation as it was last read. */
export interface Seen {
  readonly signature: string
  /** Undefined without a file. */
  readonly owner: number | undefined
  readonly isLink: boolean
  readonly shard: Shard | undefined
}

/** The files of the generations of an edge. One that has not changed is not read again. */
export class SeenFiles {
  readonly #folder: string
  readonly #files = new Map<string, Seen>()
  readonly #fresh = new Set<string>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Throws an EdgeFault if the file cannot be read. */
  seen(number: number, file: string): Seen {
    const path = `${GENERATIONS}/${number}/${file}`
    const known = this.#files.get(file)
    if (known && this.isFresh(path)) return known
    return this.checking(() => this.#look(join(this.#folder, path), file, known))
  }

  #look(place: string, file: string, known: Seen | undefined): Seen {
    const found = statAt(place)
    const signature = signatureIn(found)
    const isLink = found?.isSymbolicLink() ?? false
    // The target of a link can change without the link.
    if (known?.signature === signature && !isLink) return known
    const text = signature === MISSING ? null : textAt(place)
    const seen: Seen = {
      ...{ signature, isLink },
      owner: found?.uid,
      shard: text === null ? undefined : new Shard(file, text),
    }
    this.#files.set(file, seen)
    return seen
  }

  /** After a fault nothing counts as checked in this turn: what was read earlier may have changed. */
  checking<T>(look: () => T): T {
    try {
      return look()
    } catch (error) {
      this.#fresh.clear()
      throw error
    }
  }

  /** Whether the path was already checked in this turn of the event loop: thousands of hosts share few files. */
  isFresh(path: string): boolean {
    if (this.#fresh.has(path)) return true
    if (this.#fresh.size === 0) queueMicrotask(() => this.#fresh.clear())
    this.#fresh.add(path)
    return false
  }
}

const MISSING = 'missing'

/**
 * Changes with the file at the path. A further link to the file does not change it: unchanged files are linked from generation to
 * generation.
 */
export const signatureOf = (path: string): string => signatureIn(statAt(path))

const signatureIn = (found: Stats | undefined): string =>
  found ? `${found.ino} ${found.size} ${found.mtimeMs} ${found.uid} ${found.mode}` : MISSING

export const isLink = (path: string): boolean => statAt(path)?.isSymbolicLink() ?? false

export function statAt(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw faultOf(path, error)
  }
}

/**
 * Write it with `bytesOf`: an administrator may have written it in another encoding. Null if there is no file. Throws an EdgeFault if it
 * cannot be read: nobody knows what stands in it.
 */
export const textAt = (path: string): string | null => unlessNone(path, () => textFromBytes(readFileSync(path)), null)

/** The names in a folder. None if there is no folder. Throws an EdgeFault if it cannot be read. */
export const namesIn = (folder: string): readonly string[] => unlessNone(folder, () => readdirSync(folder), [])

/** Where a link leads. Null if there is none. Throws an EdgeFault if it cannot be read. */
export const targetAt = (path: string): string | null =>
  unlessNone(path, () => (isLink(path) ? readlinkSync(path) : null), null)
