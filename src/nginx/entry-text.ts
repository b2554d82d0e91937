import type { EdgeSettings } from '../estate/settings.ts'
import { standaloneBlocks } from './config/render-entry.ts'
import { renderAlone } from './config/render-released.ts'
import { PresentGeneration } from './generations/present.ts'
import { listeningReader } from './process/neighbours.ts'

export interface EntryText {
  /** Where the entry stands on the edge. `line` is null when it is a file of its own. */
  readonly path: string
  readonly line: number | null
  /** Server blocks that do the same in any nginx. They name the files of a certificate and a key, and contain neither. */
  readonly text: string
}

/** What nginx does for a host, as if the host stood alone. Undefined when the edge does not serve it. */
export async function entryText(settings: EdgeSettings, host: string): Promise<EntryText | undefined> {
  const present = new PresentGeneration(settings.folder)
  const standing = present.find(host)
  if (!standing) return undefined
  const listening = await listeningReader(settings)().catch(() => settings)
  const entry = standing.isEdited ? undefined : standing.entry
  const text = standaloneBlocks(host, standing.parts, entry, listening)
  if (text === null) return undefined
  const { file: path, line } = present.whereIs(host)
  return { path, line, text: renderAlone(host, text, settings.ports.https, pairOf(host)) }
}

const pairOf = (host: string): string => `  # The edge chooses the certificate by the name of the host.
  ssl_certificate ${host}.crt;
  ssl_certificate_key ${host}.key;
`
