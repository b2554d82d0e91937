import { closeSync, constants, fchmodSync, fsync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants
const fsyncOf = promisify(fsync)

/**
 * Writes a new file of exactly this mode, whatever the umask. Follows no link and overwrites nothing: rejects with EEXIST
 * where something stands. Unless `durable` is false its content survives a power loss, its name only after `syncFolder`.
 * Everything but the wait for the disk is synchronous: for small files that is faster than a thread pool.
 */
export async function createFile(path: string, content: string, mode: number, durable = true): Promise<void> {
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
  try {
    fchmodSync(descriptor, mode)
    writeFileSync(descriptor, content)
    if (durable) await fsyncOf(descriptor)
  } catch (error) {
    rmSync(path, { force: true })
    // The error of an open file does not name it.
    throw error instanceof Error ? Object.assign(error, { path }) : error
  } finally {
    closeSync(descriptor)
  }
}

/** Writes by temporary file, fsync and rename: a reader sees the old content or the new, after a power loss too. */
export async function replaceFile(path: string, content: string, mode: number): Promise<void> {
  const draft = `${path}.new`
  rmSync(draft, { force: true })
  await createFile(draft, content, mode).catch((error: unknown) => {
    throw error instanceof Error ? Object.assign(error, { path }) : error
  })
  renameSync(draft, path)
  await syncFolder(dirname(path))
}

/** Makes what was created, renamed or removed in a folder survive a power loss. */
export async function syncFolder(path: string): Promise<void> {
  const descriptor = openSync(path, O_RDONLY | O_DIRECTORY)
  await fsyncOf(descriptor).finally(() => closeSync(descriptor))
}

/** The system's own name of a failure, such as ENOSPC. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
