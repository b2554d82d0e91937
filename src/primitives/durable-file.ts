import { closeSync, constants, fchmodSync, fchownSync, fsync, openSync, rmSync, writeFileSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants
const fsyncOf = promisify(fsync)

export interface FileOwner {
  readonly uid: number
  readonly gid: number
}

/**
 * Writes a new file with exactly this mode, whatever the umask. Follows no link and overwrites nothing: rejects with
 * EEXIST when the path exists. Unless `durable` is false, the content survives a power loss; the name survives only
 * after `syncFolder`. Root may give it to another `owner`. Only fsync is asynchronous: for small files synchronous calls are faster than the thread pool.
 */
export async function createFile(
  path: string,
  content: string | Buffer,
  mode: number,
  durable = true,
  owner?: FileOwner,
): Promise<void> {
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
  try {
    fchmodSync(descriptor, mode)
    writeFileSync(descriptor, content)
    // By the descriptor: the path may lead to another file by now.
    if (owner) fchownSync(descriptor, owner.uid, owner.gid)
    if (durable) await fsyncOf(descriptor)
  } catch (error) {
    rmSync(path, { force: true })
    // The error of a call with a descriptor does not name the file.
    throw error instanceof Error ? Object.assign(error, { path }) : error
  } finally {
    closeSync(descriptor)
  }
}

/**
 * The same without any call that the event loop waits for. A file system that is making many files durable lets the creation of
 * another one wait for tens of milliseconds: this is for files that many runs write at the same moment.
 */
export async function createFileInBackground(path: string, content: string, mode: number): Promise<void> {
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
  try {
    await file.chmod(mode)
    await file.writeFile(content)
    await file.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw error instanceof Error ? Object.assign(error, { path }) : error
  } finally {
    await file.close()
  }
}

/**
 * Replaces a file through a temporary file, fsync and rename. A reader sees the old content or the new content, also
 * after a power loss. Not concurrent for the same path.
 */
export async function replaceFile(path: string, content: string, mode: number): Promise<void> {
  const draft = `${path}.new`
  await rm(draft, { force: true })
  await createFileInBackground(draft, content, mode).catch((error: unknown) => {
    throw error instanceof Error ? Object.assign(error, { path }) : error
  })
  await rename(draft, path)
  await syncFolder(dirname(path))
}

/** After this resolves, all files created, renamed or removed in the folder before survive a power loss as they are. */
export async function syncFolder(path: string): Promise<void> {
  const descriptor = openSync(path, O_RDONLY | O_DIRECTORY)
  await fsyncOf(descriptor).finally(() => closeSync(descriptor))
}

/** The error code of the system, such as ENOSPC. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
