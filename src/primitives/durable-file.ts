import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fdatasync,
  fsync,
  fsyncSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants

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
    if (durable) await syncFile(descriptor, path)
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
    await syncFile(file.fd, path)
  } catch (error) {
    await rm(path, { force: true })
    throw error instanceof Error ? Object.assign(error, { path }) : error
  } finally {
    await file.close()
  }
}

/**
 * Replaces a file through a temporary file, fsync and rename. A reader sees the old content or the new content, also
 * after a power loss. Not concurrent for the same path. `check`: is called directly before the rename. If it throws, the file stays.
 */
export async function replaceFile(path: string, content: string, mode: number, check = () => {}): Promise<void> {
  const draft = `${path}.new`
  await rm(draft, { force: true })
  await createFileInBackground(draft, content, mode).catch((error: unknown) => {
    throw error instanceof Error ? Object.assign(error, { path }) : error
  })
  try {
    check()
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  await syncFolder(dirname(path))
}

/** After this resolves, all files created, renamed or removed in the folder before survive a power loss as they are. */
export async function syncFolder(path: string): Promise<void> {
  const descriptor = openSync(path, O_RDONLY | O_DIRECTORY)
  await syncFile(descriptor, path).finally(() => closeSync(descriptor))
}

/** What the disk did not take. `path`: the file or the folder. */
interface LostWrites {
  readonly path: string
  readonly reason: string
}

let onLost: (lost: LostWrites) => void = () => undefined

/**
 * Called when the disk has refused what was written, before the write rejects. The kernel may forget such pages and report success to the
 * next call, so a program that runs for long has to end then. A command only fails.
 */
export function whenWritesAreLost(call: (lost: LostWrites) => void): void {
  onLost = call
}

/** Others say that nothing was tried, such as EINVAL of a file system that cannot. */
const LOSSES = ['EIO', 'ENOSPC', 'EDQUOT']

function told(error: NodeJS.ErrnoException, path: string): NodeJS.ErrnoException {
  if (LOSSES.includes(error.code ?? '')) onLost({ path, reason: error.code ?? '' })
  // The error of a call with a descriptor does not name the file.
  return Object.assign(error, { path })
}

type Sync = (descriptor: number, done: (error: NodeJS.ErrnoException | null) => void) => void

const syncWith = (call: Sync, descriptor: number, path: string): Promise<void> =>
  new Promise((resolve, reject) => call(descriptor, (error) => (error ? reject(told(error, path)) : resolve())))

/** After this resolves, what was written to the file or the folder survives a power loss. Nothing else in the program calls fsync. */
export const syncFile = (descriptor: number, path: string): Promise<void> => syncWith(fsync, descriptor, path)

/** The same for the content alone. */
export const syncContent = (descriptor: number, path: string): Promise<void> => syncWith(fdatasync, descriptor, path)

/** The same where nothing may happen in between. */
export function syncFileNow(descriptor: number, path: string): void {
  try {
    fsyncSync(descriptor)
  } catch (error) {
    throw error instanceof Error ? told(error, path) : error
  }
}

/** The error code of the system, such as ENOSPC. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
