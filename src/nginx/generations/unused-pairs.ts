import { generationBefore, unsettledRuns } from '../../edge/engine/unsettled.ts'
import type { Clock } from '../../primitives/clock.ts'
import { Slices } from '../../primitives/slices.ts'
import type { Pairs } from './pairs.ts'
import type { PresentGeneration } from './present.ts'
import { certificatesOf } from './standing.ts'

interface Parts {
  readonly present: PresentGeneration
  readonly pairs: Pick<Pairs, 'ids' | 'forget'>
  readonly folder: string
  readonly clock: Clock
}

/** Keeps the certificates of the present generation, of the one before, and of those that unsettled runs may have to restore. */
export async function forgetUnused(
  { present, pairs, folder, clock }: Parts,
  former: number | undefined,
): Promise<void> {
  const begunAt = present.number
  const slices = new Slices(clock)
  const used = new Set<string>()
  for (const standing of present.all()) {
    for (const id of certificatesOf(standing)) used.add(id)
    if (slices.isOver) await slices.next()
  }
  if (pairs.ids.every((id) => used.has(id))) return
  const needed = unsettledRuns(folder).flatMap(({ run }) => generationBefore(folder, run) ?? [])
  for (const number of new Set([...(former === undefined ? [] : [former]), ...needed]))
    for (const id of await present.certificatesIn(number, slices)) used.add(id)
  // A generation that was entered meanwhile may use others. After it this is called again.
  if (present.number === begunAt) pairs.forget(used)
}
