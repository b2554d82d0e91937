import { lstatSync } from 'node:fs'
import type { EdgeSettings } from '../estate/settings.ts'
import { type FieldLines, linesOf } from './generations/list.ts'
import { PresentGeneration } from './generations/present.ts'
import { listeningReader } from './process/neighbours.ts'

/**
 * The lines in which a host on an edge of this machine differs from its record. Undefined: this process is neither root's nor that of
 * the user who owns the edge's folder, and may not read them all.
 */
export async function driftLines(settings: EdgeSettings, host: string): Promise<readonly FieldLines[] | undefined> {
  const { folder } = settings
  const owner = lstatSync(folder, { throwIfNoEntry: false })?.uid
  const user = process.getuid?.()
  if (owner === undefined || (user !== 0 && user !== owner)) return undefined
  const standing = new PresentGeneration(folder).find(host)
  if (!standing?.isEdited) return []
  return linesOf(standing, await listeningReader(settings)().catch(() => settings))
}
