import type { EdgeDescription } from '../lab/description.ts'
import { labEdge } from '../lab/nginx.ts'
import type { Pair } from '../src/edge/contract/change.ts'
import type { Entry } from '../src/edge/record/entry.ts'

/** Gives an edge many hosts in one generation, as one change of a service would. `pairs`: the certificates that they name. */
export async function writeEntries(
  description: EdgeDescription,
  entries: readonly Entry[],
  pairs: readonly Pair[] = [],
): Promise<void> {
  const edge = labEdge(description)
  for (const pair of pairs) await edge.certificate(pair)
  const verdicts = await edge.change({
    items: entries.map((wanted) => {
      const { host } = wanted
      return { host, fence: { host, epoch: 0, number: 0 }, expected: 'any', wanted }
    }),
  })
  for (const verdict of verdicts) if (verdict.state === 'refused') throw verdict.fault
}
