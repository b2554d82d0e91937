import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCode } from '../../primitives/durable-file.ts'
import { isSecret, STAGING } from '../config/layout.ts'
import { EdgeFault, type EdgeFile, type FileHash } from '../contract.ts'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** The `hash` of a link, a folder or a pipe. It equals no real hash. */
export const NO_FILE = 'not a regular file'

export const hashOf = (content: string | Buffer | null): string | null =>
  content === null ? null : createHash('sha256').update(content).digest('hex')

export async function hashFile(folder: string, path: string): Promise<FileHash> {
  const content = await contentOf(folder, path)
  return { path, hash: content === NO_FILE ? NO_FILE : hashOf(content) }
}

export async function readEdgeFile(folder: string, path: string): Promise<EdgeFile> {
  const content = await contentOf(folder, path)
  if (content === NO_FILE) throw notRegularFile(path)
  return { path, content: content === null ? null : content.toString(), secret: isSecret(path) }
}

export const notRegularFile = (path: string): EdgeFault =>
  new EdgeFault('changed_meanwhile', `${path} is not a regular file. Move it away.`)

/**
 * Null when there is no file. Follows no link and does not wait for a pipe. It reads synchronously: for small files that is
 * faster than the thread pool.
 */
async function contentOf(folder: string, path: string): Promise<Buffer | null | typeof NO_FILE> {
  const place = join(folder, path)
  try {
    if (!lstatSync(dirname(place)).isDirectory()) return NO_FILE
    return readOpened(openSync(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK))
  } catch (error) {
    const code = errorCode(error)
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

/** Drafts contain private keys, so they must not be written through a link. */
export async function assertStaging(folder: string): Promise<void> {
  const staging = join(folder, STAGING)
  const found = await withEdgeFaults(staging, async () => lstatSync(staging))
  if (!found.isDirectory()) throw new EdgeFault('unavailable', `${staging} must be a folder and not a link.`)
}

/** Rejects with `faultOf` what `work` rejects with. */
export async function withEdgeFaults<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw faultOf(path, error)
  }
}

/** Turns a disk or permission error into an EdgeFault with the path and the error code, without content. */
export function faultOf(path: string, error: unknown): unknown {
  const code = errorCode(error)
  if (error instanceof EdgeFault || code === undefined) return error
  if (code === 'EEXIST')
    return new EdgeFault(
      'changed_meanwhile',
      `${path} was created outside Drawbridge at the same time. It was not overwritten.`,
    )
  return new EdgeFault('write_failed', `${path} could not be read or written (${code}).`)
}
