import { escapeText } from '../model/escape-text.ts'
import { blockFile, linesFile, placeOf } from './config/layout.ts'
import { renderAlone } from './config/render-released.ts'
import { blocksFromLines } from './config/render-site.ts'
import { PresentGeneration } from './generations/present.ts'
import { standingText } from './local.ts'
import { listeningReader } from './process/neighbours.ts'
import type { AgentClient } from './remote/agent-client.ts'
import type { EdgeSettings } from './settings.ts'

export interface EntryText {
  /** Where the entry stands on the edge. `line` is null when it is a file of its own. */
  readonly path: string
  readonly line: number | null
  /** Server blocks that do the same in any nginx. They name the files of a certificate and a key, and contain neither. */
  readonly text: string
}

/** What nginx does for a host, as if the host stood alone. Undefined when the edge does not serve it. */
export async function entryText(settings: EdgeSettings, host: string): Promise<EntryText | undefined> {
  const { folder, ports } = settings
  const present = new PresentGeneration(folder)
  const text = standingText(present, host, await listeningReader(settings)().catch(() => settings))
  if (text === null) return undefined
  const place =
    present.number === undefined ? { path: placeOf(folder, blockFile(host)), line: null } : present.whereIs(host)
  return { ...place, text: renderAlone(host, text, ports.https, pairOf(host)) }
}

/** The same, told by the agent that owns the nginx. */
export async function remoteEntryText(client: AgentClient, host: string): Promise<EntryText | undefined> {
  const { nginx } = await client.describe()
  const [block, lines] = await client.call('read', [blockFile(host), linesFile(host)])
  const text = block?.content ?? (lines?.content ? blocksFromLines(host, lines.content, nginx) : null)
  if (text === null) return undefined
  const place = await client.call('where', { host })
  return { ...place, path: escapeText(place.path), text: renderAlone(host, text, nginx.ports.https, pairOf(host)) }
}

const pairOf = (host: string): string => `  # The edge chooses the certificate by the name of the host.
  ssl_certificate ${host}.crt;
  ssl_certificate_key ${host}.key;
`
