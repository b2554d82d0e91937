import type { EdgeFault } from '../contract/fault.ts'
import { findFailing } from './group-commit.ts'
import type { Proposed } from './proposals.ts'
import type { Batch, NextGeneration, Standing, Tried } from './web-server.ts'

export const draftOf = <S extends Standing, O>(
  proposed: readonly Proposed<S, O>[],
  batch: Batch<S, O>,
): Promise<NextGeneration<O>> =>
  batch.draft(proposed.flatMap(({ decided }) => decided.map(({ item, effect }) => ({ host: item.host, effect }))))

export function tryOut<S extends Standing, O>(
  proposed: readonly Proposed<S, O>[],
  next: NextGeneration<O>,
): Promise<Tried> {
  const [only] = proposed
  const outside = proposed.flatMap(({ decided }) => decided.flatMap((one) => one.outside))
  return next.stageTested(outside, proposed.length === 1 ? only?.member.work.options.signal : undefined)
}

export const hasOutside = <S extends Standing, O>(proposed: readonly Proposed<S, O>[]): boolean =>
  proposed.some(({ decided }) => decided.some(({ outside }) => outside.length > 0))

/** The one bad change among these, found by halving, and why it is refused. Undefined if they only fail together. */
export async function findRefused<S extends Standing, O>(
  proposed: readonly Proposed<S, O>[],
  first: EdgeFault,
  batch: Batch<S, O>,
): Promise<{ readonly failing: Proposed<S, O>; readonly refused: EdgeFault } | undefined> {
  let refused = first
  const passes = async (some: readonly Proposed<S, O>[]): Promise<boolean> => {
    const tried = await tryOut(some, await draftOf(some, batch))
    if ('refused' in tried) refused = tried.refused
    else await tried.staged.discard()
    return !('refused' in tried)
  }
  const failing = proposed.length === 1 ? proposed[0] : await findFailing(proposed, passes)
  return failing && { failing, refused }
}
