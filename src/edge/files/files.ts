import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsync,
  lstatSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { isSecret, STAGING } from '../config/layout.ts'
import { EdgeFault, type EdgeFile, type FileHash } from '../contract.ts'

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/** What is told where a link, a folder or a pipe stands in place of a file: no hash is ever equal to it. */
export const NO_FILE = 'not a regular file'

export const hashOf = (content: string | Buffer | null): string | null =>
  content === null ? null : createHash('sha256').update(content).digest('hex')

export async function lookAt(folder: string, path: string): Promise<FileHash> {
  const content = await contentOf(folder, path)
  return { path, hash: content === NO_FILE ? NO_FILE : hashOf(content) }
}

export async function readEdgeFile(folder: string, path: string): Promise<EdgeFile> {
  const content = await contentOf(folder, path)
  if (content === NO_FILE) throw standsInTheWay(path)
  return { path, content: content === null ? null : content.toString(), secret: isSecret(path) }
}

export const standsInTheWay = (path: string): EdgeFault =>
  new EdgeFault('changed_meanwhile', `At ${path} stands something that is not a regular file; move it away.`)

/**
 * Null: nothing is there. Opens without following a link or waiting for a pipe, and at once: for files this small it takes
 * less time than handing it to somebody else.
 */
async function contentOf(folder: string, path: string): Promise<Buffer | null | typeof NO_FILE> {
  const place = join(folder, path)
  try {
    if (!lstatSync(dirname(place)).isDirectory()) return NO_FILE
    return readOpened(openSync(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT') return null
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'ENOTDIR') return NO_FILE
    throw faultOf(path, error)
  }
}

function readOpened(descriptor: number): Buffer | typeof NO_FILE {
  try {
    return fstatSync(descriptor).isFile() ? readFileSync(descriptor) : NO_FILE
  } finally {
    closeSync(descriptor)
  }
}

/**
 * A new file of exactly this mode, whatever the umask. Nothing is followed or overwritten. `durable`: it survives a power
 * loss. All but that waiting is done at once.
 */
export async function writeNew(path: string, content: string, mode: number, durable: boolean): Promise<void> {
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
  try {
    fchmodSync(descriptor, mode)
    writeFileSync(descriptor, content)
    if (durable) await fsyncOf(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const fsyncOf = promisify(fsync)

/** Drafts hold keys, too: they are not written through a link to wherever it leads. */
export async function assertStaging(folder: string): Promise<void> {
  const staging = join(folder, STAGING)
  const found = await reporting(staging, async () => lstatSync(staging))
  if (!found.isDirectory()) throw new EdgeFault('unavailable', `${staging} must be a folder and no link.`)
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  await closing(folder, () => folder.sync())
}

async function closing<T>(file: FileHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    await file.close()
  }
}

/** Failures of disk and rights become faults that name the file and the system's code, never content. */
export async function reporting<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw faultOf(path, error)
  }
}

function faultOf(path: string, error: unknown): unknown {
  const code = codeOf(error)
  if (error instanceof EdgeFault || code === undefined) return error
  if (code === 'EEXIST') return new EdgeFault('changed_meanwhile', `Somebody else has just made ${path}.`)
  return new EdgeFault('write_failed', `${path} could not be read or written (${code}).`)
}

/** The system's own name of a failure, such as ENOSPC. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
