import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { faultOf } from '../../edge/faults.ts'
import { OUTSIDE_NOTES } from '../../edge/layout.ts'
import type { OutsideFile } from '../../estate/layout.ts'
import { errorCode, replaceFile } from '../../primitives/durable-file.ts'
import { KeyedQueue } from '../../primitives/keyed-queue.ts'
import { hashOf } from './files.ts'

interface Note {
  /** Undefined in a note of an earlier version. */
  readonly run?: string
  readonly path: string
  readonly hash: string
  readonly at: number
}

/**
 * An undo comes soon after its change, or after a person has resolved a blocked run. After this time the file belongs to the
 * administrator alone.
 */
const UNDO_MS = 30 * 24 * 3_600_000
const MOST_NOTES = 1_000

/**
 * The files outside the edge's folder that runs have written. Only these files may be removed again, by the undo of the same run,
 * and only while they are unchanged. Stored in a file, so that a restarted engine can undo.
 */
export class OutsideNotes {
  readonly #file: string
  readonly #now: () => number
  readonly #writes = new KeyedQueue()

  constructor(folder: string, now: () => number) {
    this.#file = join(folder, OUTSIDE_NOTES)
    this.#now = now
  }

  /** Call it before a run writes these files. */
  async note(run: string, files: readonly OutsideFile[]): Promise<void> {
    const at = this.#now()
    const written = files.flatMap(({ path, content }): Note[] => {
      const hash = hashOf(content)
      return hash === null ? [] : [{ run, path, hash, at }]
    })
    if (written.length === 0) return
    await this.#writes.run(this.#file, () =>
      replaceFile(this.#file, JSON.stringify([...written, ...this.#notes()].slice(0, MOST_NOTES)), 0o600),
    )
  }

  /** The files that a run has written: the hash of each, by path. */
  of(run: string): ReadonlyMap<string, string> {
    const own = this.#notes().filter(
      (note) => (note.run === undefined || note.run === run) && note.at > this.#now() - UNDO_MS,
    )
    return new Map(own.toReversed().map(({ path, hash }) => [path, hash]))
  }

  #notes(): readonly Note[] {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8')) as Note[]
    } catch (error) {
      if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return []
      // The next note would replace those that cannot be read now.
      throw faultOf(this.#file, error)
    }
  }
}
