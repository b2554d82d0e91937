import type { EdgeDescription } from '../lab/description.ts'
import { labEdge } from '../lab/nginx.ts'
import type { Site } from '../src/edge/contract.ts'
import type { FileHash } from '../src/model/receipt.ts'
import { hashOf } from '../src/runs/file-hash.ts'

/** Gives an edge many hosts in one generation, as one change of a service would. Resolves with the files of each for its receipt. */
export async function writeSites(
  description: EdgeDescription,
  sites: readonly Site[],
): Promise<ReadonlyMap<string, readonly FileHash[]>> {
  const edge = labEdge(description)
  const files = await Promise.all(sites.map((site) => edge.filesFor(site)))
  // Hosts with the same certificate name the same files for it.
  const wanted = [...new Map(files.flat().map((file) => [file.path, file])).values()]
  const expected = await edge.hashFiles(wanted.map(({ path }) => path))
  await edge.change({ propose: async () => ({ files: wanted, expected }), assertHeld: () => undefined })
  return new Map(sites.map(({ host }, at) => [host, (files[at] ?? []).map(hashOf)]))
}
