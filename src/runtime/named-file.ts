import { constants, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createFile, errorCode, syncFile, syncFolder } from '../primitives/durable-file.ts'
import { firstOfOthers, isRootsAlone, partsOf } from './path-owners.ts'

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/**
 * A file that the command line names. Root opens it before the process becomes another user, who may not have access, but only if
 * no other user controls the path. Otherwise it is opened with the rights of that user.
 */
export class NamedFile {
  readonly path: string
  #file: FileHandle | undefined
  #folder: FileHandle | undefined

  constructor(path: string) {
    this.path = path
  }

  /** Open for reading from any position. The caller closes it. Rejects with an error of the system. */
  async toRead(): Promise<FileHandle> {
    return this.#file ?? opened(this.path, O_RDONLY | (isSticky(dirname(this.path)) ? O_NOFOLLOW : 0))
  }

  /** Undefined unless root has created the file: then its folder may be closed to this user. Every write appends. */
  get created(): FileHandle | undefined {
    return this.#file
  }

  /** Writes all of a new file of mode 0600, durably. Rejects if the file exists. */
  async create(text: string): Promise<void> {
    if (this.#file) {
      await this.#file.writeFile(text)
      return this.finish()
    }
    await createFile(this.path, text, 0o600).catch((error: unknown) => {
      throw errorCode(error) === 'EEXIST' ? existsAlready(this.path) : error
    })
    await syncFolder(dirname(this.path))
  }

  /** Makes the file of root durable, and closes it. */
  async finish(): Promise<void> {
    for (const handle of [this.#file, this.#folder]) {
      if (handle) await syncFile(handle.fd, this.path)
      await handle?.close()
    }
  }

  /** Opens the checked file itself: the path could lead to another file by then. `toRead` reports a missing file. */
  async openAsRoot(): Promise<void> {
    const parts = partsOf(this.path)
    const found = parts.at(-1)
    if (!found?.stats.isFile() || firstOfOthers(parts, 0) !== undefined) return
    const file = await opened(found.path, O_RDONLY | O_NOFOLLOW)
    const { dev, ino } = await file.stat()
    if (dev === found.stats.dev && ino === found.stats.ino) this.#file = file
    else await file.close()
  }

  /**
   * Reuses an empty file of root that no other process can have open: a failed command may have left it. Rejects for any other
   * file.
   */
  async createAsRoot(): Promise<void> {
    const folder = dirname(this.path)
    if (!isRootsAlone(folder)) return
    this.#folder = await open(folder, O_RDONLY | O_DIRECTORY)
    this.#file = await open(this.path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600).catch(
      (error: unknown) => {
        if (errorCode(error) !== 'EEXIST') throw error
        return emptyFile(this.path)
      },
    )
    await this.#file.chmod(0o600)
  }
}

async function emptyFile(path: string): Promise<FileHandle> {
  const file = await opened(path, O_WRONLY | O_APPEND | O_NOFOLLOW).catch(() => {
    throw existsAlready(path)
  })
  const { size, uid, nlink, mode } = await file.stat()
  if (size === 0 && uid === 0 && nlink === 1 && (mode & 0o077) === 0) return file
  await file.close()
  throw existsAlready(path)
}

export const existsAlready = (path: string): Error =>
  new Error(`${path} exists already. It was not overwritten. Name a new file.`)

/** Whether any user may put a link into the folder. */
const isSticky = (folder: string): boolean => ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & 0o1000) !== 0

/** Does not wait for a pipe, and refuses what is not a regular file. */
async function opened(path: string, flags: number): Promise<FileHandle> {
  const file = await open(path, flags | O_NONBLOCK)
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw Object.assign(new Error(`${path} is not a regular file.`), { code: 'not a regular file' })
}
