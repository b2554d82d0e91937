import type { Removal, Stores } from './cluster.ts'
import type { History } from './command.ts'
import { type Counterexample, findBroken } from './history.ts'
import { KNOWN_FAULTS } from './known-faults.ts'

/** The first of these histories that breaks an invariant in a way that is not known, made as short as it gets. */
export async function search(
  histories: Iterable<History>,
  stores: Stores,
  removal: Removal = {},
): Promise<Counterexample | undefined> {
  for (const history of histories) {
    const found = await findNew(history, stores, removal)
    if (found) return shorten(found, stores, removal)
  }
  return undefined
}

async function findNew(history: History, stores: Stores, removal: Removal): Promise<Counterexample | undefined> {
  const found = await findBroken(history, stores, removal)
  return found && KNOWN_FAULTS.some(({ isShownBy }) => isShownBy(found)) ? undefined : found
}

/** Leaves out one command after the other, as long as an invariant is broken. */
async function shorten(found: Counterexample, stores: Stores, removal: Removal): Promise<Counterexample> {
  for (const i of found.history.keys()) {
    const shorter = await findNew(found.history.toSpliced(i, 1), stores, removal)
    if (shorter) return shorten(shorter, stores, removal)
  }
  return found
}

/** What happened, line by line, and the history to play it again. */
export const describeCounterexample = ({ invariant, detail, lines, history }: Counterexample): string =>
  [`Broken: ${invariant} (${detail}).`, ...lines.map((line) => `  ${line}`), JSON.stringify(history)].join('\n')
