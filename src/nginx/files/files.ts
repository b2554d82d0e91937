import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { faultOf } from '../../edge/faults.ts'
import { placeOf } from '../../estate/layout.ts'
import { errorCode } from '../../primitives/durable-file.ts'
import { bytesOf } from '../../primitives/lossless-text.ts'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** The `hash` of a folder or a pipe. It equals no real hash. */
const NO_FILE = 'not a regular file'

export const hashOf = (content: string | Buffer | null): string | null =>
  content === null
    ? null
    : createHash('sha256')
        .update(typeof content === 'string' ? bytesOf(content) : content)
        .digest('hex')

/** The hash of the file. Null if there is none; NO_FILE if it is not a regular file. */
export function hashOfFound(found: Found): string | null {
  if (found.kind === 'file') return hashOf(found.content)
  return found.kind === 'none' ? null : NO_FILE
}

/** The file at a path. */
export type Found =
  | { readonly kind: 'file'; readonly content: Buffer; readonly owner: number }
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
