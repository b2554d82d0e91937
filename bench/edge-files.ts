import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { EdgeDescription } from '../lab/description.ts'
import { renderSite } from '../src/edge/config/render-site.ts'
import type { Site } from '../src/edge/contract.ts'
import { hashOf } from '../src/edge/files/files.ts'
import type { FileHash } from '../src/model/receipt.ts'

/**
 * Writes the files of many sites into the folder of an edge, as as many applies would have, but does not reload nginx. This is
 * the only place of the benchmarks that knows the layout of an edge. Resolves with the files of each host for its receipt.
 */
export function writeSites(edge: EdgeDescription, sites: readonly Site[]): ReadonlyMap<string, readonly FileHash[]> {
  const listening = { listen: [edge.address], ports: { http: edge.http, https: edge.https } }
  const written = new Set<string>()
  return new Map(
    sites.map((site) => {
      const files = renderSite(site, listening)
      // Hosts with the same certificate name the same files for it.
      for (const { path, content, secret } of files.filter((file) => !written.has(file.path))) {
        writeFileSync(join(dirname(edge.hosts), path), content ?? '', { mode: secret ? 0o600 : 0o644 })
        written.add(path)
      }
      return [site.host, files.map(({ path, content }) => ({ path, hash: hashOf(content) }))]
    }),
  )
}
