import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../primitives/durable-file.ts'
import { EdgeFault } from './contract/fault.ts'
import { STAGING } from './layout.ts'

/** Drafts contain private keys, so they must not be written through a link. */
export async function assertStaging(folder: string): Promise<void> {
  const staging = join(folder, STAGING)
  const found = await withEdgeFaults(staging, async () => lstatSync(staging))
  if (!found.isDirectory()) throw new EdgeFault('unavailable', `${staging} must be a folder and not a link.`)
}

/** Rejects with `faultOf` of the error of `work`. */
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

/**
 * What `read` finds at a path, or `none` if there is none. Throws an EdgeFault if it
 * cannot be read: nobody knows what stands there.
 */
export function unlessNone<T>(path: string, read: () => T, none: T): T {
  try {
    return read()
  } catch (error) {
    if (isNone(error)) return none
    throw faultOf(path, error)
  }
}

/** Whether a read has failed because there is nothing, something else, or a link that leads nowhere. */
export const isNone = (error: unknown): boolean => NONE.includes(errorCode(error) ?? '')

const NONE = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP']

export const notRegularFile = (path: string): EdgeFault =>
  new EdgeFault('changed_meanwhile', `${path} is not a regular file. Move it away.`)
