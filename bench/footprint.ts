import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Lab } from '../lab/lab.ts'
import { statePaths } from '../lab/state.ts'
import { residentMb, servicePid, workerMb } from './processes.ts'

/** What the hosts of a lab take. */
export interface Footprint {
  readonly serviceMb: number
  readonly workerMb: number
  /** On disk, with whole blocks, as `du` counts. */
  readonly edgeKb: number
  readonly storeKb: number
}

export function footprint(lab: Lab): Footprint {
  const { edges } = lab.description
  return {
    serviceMb: residentMb(servicePid(lab.description)),
    workerMb: workerMb(edges.primary),
    edgeKb: diskKb(edges.primary.folder),
    storeKb: diskKb(statePaths(lab.state).service),
  }
}

/** `blocks` counts 512 bytes each. */
function diskKb(path: string): number {
  const entry = lstatSync(path)
  const inside = entry.isDirectory() ? readdirSync(path).map((name) => diskKb(join(path, name))) : []
  return inside.reduce((sum, kb) => sum + kb, (entry.blocks * 512) / 1000)
}
