import { randomBytes } from 'node:crypto'
import { closeSync, constants, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFile, errorCode, syncFile, syncFolder } from '../../primitives/durable-file.ts'
import { notRegularFile } from '../faults.ts'
import { FENCES, STAGING } from '../layout.ts'
import { HEADER_LENGTH, headerOf, linesFrom, newHeader, statOf, withOpened } from './fence-file.ts'
import { type FenceLine, textOfLines } from './fence-lines.ts'

const { O_APPEND, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants

/** `isAnew`: they are all that the file has, because it was written anew. */
interface ReadLines {
  readonly lines: readonly FenceLine[]
  readonly isAnew: boolean
}

/** The file of the fences of an edge. Lines are appended to it; now and then it is written anew. */
export class FenceLog {
  readonly #folder: string
  readonly #path: string
  #read = NOTHING_READ
  /** How often the file was replaced, and how many of these are known to be on the disk. */
  #replaced = 0
  #replacedOnDisk = 0

  constructor(folder: string) {
    this.#folder = folder
    this.#path = join(folder, FENCES)
  }

  /** How many lines it has, as far as it was read. */
  get lines(): number {
    return this.#read.lines
  }

  /** What was appended since the last call. Undefined if nothing was. */
  readOn(): ReadLines | undefined {
    const { ino, size, ctimeMs, isFile } = statOf(this.#path)
    if (!isFile) throw notRegularFile(FENCES)
    if (ino === this.#read.ino && size === this.#read.size && ctimeMs === this.#read.ctimeMs) return undefined
    if (ino === 0) {
      this.#read = NOTHING_READ
      return { lines: [], isAnew: true }
    }
    return withOpened(this.#path, O_RDONLY, (descriptor) => {
      const header = headerOf(descriptor)
      const isAnew = header !== this.#read.header || size < this.#read.offset
      const known = isAnew ? NOTHING_READ : this.#read
      const { lines, end } = linesFrom(descriptor, known.offset)
      this.#read = { ino, size, ctimeMs, header, offset: end, lines: known.lines + lines.length }
      return { lines, isAnew }
    })
  }

  /** Durable after `makeDurable`. */
  async append(lines: readonly FenceLine[]): Promise<void> {
    try {
      withOpened(this.#path, O_WRONLY | O_APPEND, (descriptor) => writeFileSync(descriptor, textOfLines(lines)))
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error
      await createFile(this.#path, newHeader() + textOfLines(lines), 0o600).catch(ignoreExisting)
      await syncFolder(this.#folder)
    }
  }

  async makeDurable(): Promise<void> {
    const descriptor = openSync(this.#path, O_RDONLY | O_NOFOLLOW)
    await syncFile(descriptor, this.#path).finally(() => closeSync(descriptor))
    await this.#syncReplaced()
  }

  /** Replaces the file by one with these lines, unless somebody appends meanwhile. They say the same as all that was read. */
  async writeAnew(lines: readonly FenceLine[]): Promise<void> {
    const draft = join(this.#folder, STAGING, `fences-${randomBytes(8).toString('hex')}`)
    try {
      const { ino, size } = this.#read
      const header = newHeader()
      await createFile(draft, header + textOfLines(lines), 0o600)
      const now = statOf(this.#path)
      if (now.ino !== ino || now.size !== size) return
      renameSync(draft, this.#path)
      this.#replaced += 1
      const written = statOf(this.#path)
      // Not read again: its lines are known.
      this.#read = { ...written, header: header.slice(0, HEADER_LENGTH), offset: written.size, lines: lines.length }
      await this.#syncReplaced()
    } finally {
      rmSync(draft, { force: true })
    }
  }

  /** Before a claim succeeds: after a power loss the replaced file could be back, without the claim. A failure is tried again by the next one. */
  async #syncReplaced(): Promise<void> {
    const replaced = this.#replaced
    if (this.#replacedOnDisk >= replaced) return
    await syncFolder(this.#folder)
    this.#replacedOnDisk = Math.max(this.#replacedOnDisk, replaced)
  }
}

/** How far the file was read, and what identifies it: the system may give the number of a removed inode to a new file. */
const NOTHING_READ = { ino: 0, size: 0, ctimeMs: 0, header: '', offset: 0, lines: 0 }

/** Another claim has created the file at the same time. Then the lines are missing in it and are appended. */
function ignoreExisting(error: unknown): void {
  if (errorCode(error) !== 'EEXIST') throw error
}
