import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../../primitives/durable-file.ts'
import { KeyedQueue } from '../../primitives/keyed-queue.ts'
import { blockFile, isOutside, linesFile, OUTSIDE_NOTES } from '../config/layout.ts'
import type { EdgeFile } from '../contract.ts'
import { hashOf } from '../files/files.ts'

interface Note {
  readonly path: string
  readonly hash: string
  readonly at: number
}

/** An undo comes soon after its change, or when a person has resolved a blocked run. Later the file belongs to the administrator alone. */
const UNDO_DAYS = 30
const UNDO_MS = UNDO_DAYS * 24 * 3_600_000
const MOST_NOTES = 1_000

/**
 * The files outside the edge's folder that changes of this agent have written: only these may go again, while they are as they were
 * written, because that is an undo. Kept in a file, so that an agent that was started again can undo.
 */
export class OutsideFiles {
  readonly #file: string
  readonly #now: () => number
  readonly #writes = new KeyedQueue()

  constructor(folder: string, now: () => number) {
    this.#file = join(folder, OUTSIDE_NOTES)
    this.#now = now
  }

  /** Before a change writes these files. `hashAt`: what stands at a path. What stands there already is not written by this change. */
  async note(files: readonly EdgeFile[], hashAt: (path: string) => string | null): Promise<void> {
    const at = this.#now()
    const written = files.flatMap(({ path, content }): Note[] => {
      const hash = hashOf(content)
      return hash !== null && isOutside(path) && hashAt(path) !== hash ? [{ path, hash, at }] : []
    })
    if (written.length === 0) return
    await this.#writes.run(this.#file, () =>
      replaceFile(this.#file, JSON.stringify([...written, ...this.#notes()].slice(0, MOST_NOTES)), 0o600),
    )
  }

  /** Why the file that stands there with this hash cannot go by an undo. Undefined if a change of this agent has written it. */
  undoFault(path: string, hash: string | null): string | undefined {
    const own = this.#notes().filter((note) => note.path === path && note.hash === hash)
    if (own.some(({ at }) => at > this.#now() - UNDO_MS)) return undefined
    return own.length === 0
      ? 'It lies outside the folder of the edge, and no change of this agent has written it as it is'
      : `This agent wrote it more than ${UNDO_DAYS} days ago, so it belongs to the administrator, who can undo it by hand`
  }

  #notes(): readonly Note[] {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8')) as Note[]
    } catch {
      return []
    }
  }
}

/** Whether a change brings an entry of the host: nobody may take away what serves it with nothing in its place. */
export const hasEntry = (host: string, contents: ReadonlyMap<string, string | null>): boolean =>
  [linesFile(host), blockFile(host)].some((path) => typeof contents.get(path) === 'string')
