import type { LinesHere } from '../../cli/views/drift.ts'
import type { Config } from '../../config/config.ts'
import { escapeText } from '../../model/escape-text.ts'
import { driftLines } from '../../nginx/drift-lines.ts'
import { type EntryText, entryText } from '../../nginx/entry-text.ts'
import { edgesHere } from '../../operate/edge/edges-here.ts'
import { systemClock } from '../../primitives/clock.ts'
import { createLog } from '../../runtime/log.ts'
import { agentClient } from '../edges.ts'
import { lazyTrust } from './doctor.ts'

/** The entry of a host on an edge of this machine, or told by the agent of an edge. */
export async function entryOn(config: Config, server: string, host: string): Promise<EntryText | undefined> {
  const settings = config.edges[server]
  if (settings) return entryText({ ...settings, server, ports: config.edge, clock: systemClock }, host)
  const agent = config.agents[server]
  if (!agent) return undefined
  const trust = lazyTrust(config, systemClock)
  const client = agentClient({ server, agent, trust, clock: systemClock }, createLog('silent', []))
  try {
    const shown = await client.look('text', host)
    return shown ? { ...shown, path: escapeText(shown.path) } : undefined
  } finally {
    client.reconnect()
  }
}

/** What differs of a host, line by line, on the edges of this machine. */
export async function linesHere(host: string, file: string | undefined): ReturnType<LinesHere> {
  const { edges, faults } = await edgesHere(file)
  const shown = edges.map(async ({ server, nginx, ports }) => ({
    server,
    fields: await driftLines({ ...nginx, server, ports, clock: systemClock }, host),
  }))
  return { edges: await Promise.all(shown), faults }
}
