import { statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { errorCode } from '../../../primitives/durable-file.ts'
import type { PathKind } from '../routes/condition.ts'

/** What stands at a path. It is called on the thread of the parser: a disk may be slow. */
export function pathKind(path: string): PathKind {
  try {
    return kindIn(statSync(path))
  } catch (error) {
    return kindAfter(error)
  }
}

/** The same without waiting for a disk. */
export const pathKindLater = (path: string): Promise<PathKind> => stat(path).then(kindIn, kindAfter)

const kindIn = (stats: { isDirectory(): boolean }): PathKind => (stats.isDirectory() ? 'folder' : 'file')

const kindAfter = (error: unknown): PathKind =>
  ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(errorCode(error) ?? '') ? 'none' : 'unknown'
