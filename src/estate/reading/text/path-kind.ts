import { statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { errorCode } from '../../../primitives/durable-file.ts'
import type { PathKind } from '../routes/condition.ts'

/** The kind of file at a path. Call it only on the parser's thread: the disk may be slow. */
export function pathKind(path: string): PathKind {
  try {
    return kindIn(statSync(path))
  } catch (error) {
    return kindAfter(error)
  }
}

/** The same, asynchronously. */
export const pathKindLater = (path: string): Promise<PathKind> => stat(path).then(kindIn, kindAfter)

const kindIn = (stats: { isDirectory(): boolean }): PathKind => (stats.isDirectory() ? 'folder' : 'file')

const kindAfter = (error: unknown): PathKind =>
  ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(errorCode(error) ?? '') ? 'none' : 'unknown'
