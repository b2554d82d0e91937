import type { Config } from '../../config/config.ts'
import { escapeText } from '../../model/escape-text.ts'
import { type EntryText, entryText } from '../../nginx/entry-text.ts'
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
