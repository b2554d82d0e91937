import type { EdgeSettings } from '../estate/settings.ts'
import { standaloneBlocks } from './config/render-entry.ts'
import { renderAlone } from './config/render-released.ts'
import { PresentGeneration } from './generations/present.ts'
import { listeningReader } from './process/neighbours.ts'

export interface EntryText {
  /** The place of the entry on the edge. `line` is null if the entry is a file of its own. */
  readonly path: string
  readonly line: number | null
  /** Server blocks with the same effect in any nginx. They name the files of a certificate and a key, and contain neither. */
  readonly text: string
}

/** The server blocks of a host, independent of other hosts. Undefined if the edge does not serve the host. */
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
