import type { Config } from '../../config/config.ts'
import { EdgeTrust } from '../../edge/authority/trust.ts'
import { Fault, sentenceOf } from '../../model/errors.ts'
import type { RetiredEdge } from '../../operate/edge/retire.ts'
import { systemClock } from '../../primitives/clock.ts'
import { createLog } from '../../runtime/log.ts'
import { eachExposure } from '../../store/ports/exposures.ts'
import { agentClient } from '../edges.ts'
import { open, openShelf } from '../open-store.ts'

/**
 * Tells the agent of a Secondary that it may leave, then refuses its certificate. An agent that is not reached, because its machine
 * is gone, is only refused.
 */
export async function retireEdge(config: Config, server: string): Promise<RetiredEdge> {
  const address = config.servers.addresses[server]
  const pointing = address === undefined ? [] : await hostsPointingTo(config, address)
  if (pointing.length > 0)
    throw new Fault(
      `Records of ${pointing.length} hosts point to edge ${server} at ${address} (${pointing.slice(0, 5).join(', ')}${pointing.length > 5 ? ', …' : ''}). ` +
        'Publish another address for them first.',
    )
  const shelf = await openShelf(config)
  try {
    const trust = new EdgeTrust({ shelf, instance: 'console', now: systemClock.now })
    const untold = await tell(config, server, trust)
    return { server, untold, revoked: await trust.revoke(server) }
  } finally {
    await shelf.close()
  }
}

async function hostsPointingTo(config: Config, address: string): Promise<string[]> {
  const store = await open(config, { upgrade: false })
  try {
    const hosts: string[] = []
    for await (const { host, receipt } of eachExposure(store))
      if (receipt?.records.some(({ value }) => value === address)) hosts.push(host)
    return hosts
  } finally {
    await store.close()
  }
}

/** Why the agent does not know it. Null if it does. */
async function tell(config: Config, server: string, trust: EdgeTrust): Promise<string | null> {
  const agent = config.agents[server]
  if (!agent) return `edges.${server} has no agent in the configuration.`
  const client = agentClient({ server, agent, trust, clock: systemClock }, createLog('silent', []))
  try {
    await client.call('retire', {})
    return null
  } catch (error) {
    return sentenceOf(error)
  } finally {
    client.reconnect()
  }
}
