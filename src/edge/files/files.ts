import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hashOfLink } from '../../model/receipt.ts'
import { errorCode } from '../../primitives/durable-file.ts'
import { isSecret, placeOf, STAGING } from '../config/layout.ts'
import { EdgeFault, type EdgeFile, type FileHash } from '../contract.ts'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** The `hash` of a folder or a pipe. It equals no real hash. */
export const NO_FILE = 'not a regular file'

export const hashOf = (content: string | Buffer | null): string | null =>
  content === null ? null : createHash('sha256').update(content).digest('hex')

/** What stands for the hash of something in a comparison. */
export function hashOfFound(path: string, found: Found): FileHash {
  if (found.kind === 'link') return { path, hash: hashOfLink(found.target) }
  if (found.kind !== 'file') return { path, hash: found.kind === 'none' ? null : NO_FILE }
  const { content, owner } = found
  return { path, hash: hashOf(content), ...(owner !== process.getuid?.() && { owner }) }
}

export function edgeFileOf(path: string, found: Found): EdgeFile {
  const secret = isSecret(path)
  if (found.kind === 'other') throw notRegularFile(path)
  if (found.kind === 'link') return { path, content: null, secret, link: found.target }
  return { path, content: found.kind === 'file' ? found.content.toString() : null, secret }
}

export const notRegularFile = (path: string): EdgeFault =>
  new EdgeFault('changed_meanwhile', `${path} is not a regular file. Move it away.`)

/** What stands at a path. */
export type Found =
  | { readonly kind: 'file'; readonly content: Buffer; readonly owner: number }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'none' | 'other' }

/**
 * Follows no link and does not wait for a pipe. It reads synchronously: for small files that is faster than the thread pool.
 */
export function lookAt(folder: string, path: string): Found {
  const place = placeOf(folder, path)
  try {
    if (!lstatSync(dirname(place)).isDirectory()) return { kind: 'other' }
    return readOpened(openSync(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK))
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') return { kind: 'none' }
    if (code === 'ELOOP' && lstatSync(place).isSymbolicLink()) return { kind: 'link', target: readlinkSync(place) }
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'ENOTDIR') return { kind: 'other' }
    throw faultOf(path, error)
  }
}

function readOpened(descriptor: number): Found {
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) return { kind: 'other' }
    return { kind: 'file', content: readFileSync(descriptor), owner: stat.uid }
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
