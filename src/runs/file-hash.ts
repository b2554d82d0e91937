import { createHash } from 'node:crypto'
import type { EdgeFile, FileHash } from '../edge/contract.ts'
import { hashOfLink } from '../model/receipt.ts'

/** The hash that the file will have on disk. */
export function hashOf({ path, content, link }: EdgeFile): FileHash {
  if (link !== undefined) return { path, hash: hashOfLink(link) }
  return { path, hash: content === null ? null : createHash('sha256').update(content).digest('hex') }
}

export const hashIn = (hashes: readonly FileHash[], path: string): string | null =>
  hashes.find((candidate) => candidate.path === path)?.hash ?? null
