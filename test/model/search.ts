import type { Removal, Stores } from './cluster.ts'
import type { History } from './command.ts'
import { type Counterexample, findBroken } from './history.ts'

/** The first of these histories that breaks an invariant, made as short as it gets. */
export async function search(histories: Iterable<History>, stores: Stores): Promise<Counterexample | undefined> {
  const found = await firstBroken(histories, stores)
  return found && shorten(found, stores)
}

/** The first of these histories that breaks an invariant when `removal` is taken out. */
export async function firstBroken(
  histories: Iterable<History>,
  stores: Stores,
  removal: Removal = {},
): Promise<Counterexample | undefined> {
  for (const history of histories) {
    const found = await findBroken(history, stores, removal)
    if (found) return found
  }
  return undefined
}

/** Leaves out one command after the other, as long as an invariant is broken. */
export async function shorten(found: Counterexample, stores: Stores, removal: Removal = {}): Promise<Counterexample> {
  for (const i of found.history.keys()) {
    const shorter = await findBroken(found.history.toSpliced(i, 1), stores, removal)
    if (shorter) return shorten(shorter, stores, removal)
  }
  return found
}

/** What happened, line by line, and the history to play it again. */
export const describeCounterexample = ({ invariant, detail, lines, history }: Counterexample): string =>
  [`Broken: ${invariant} (${detail}).`, ...lines.map((line) => `  ${line}`), JSON.stringify(history)].join('\n')
