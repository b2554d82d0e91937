import type { Config } from '../../config/config.ts'
import { EdgeTrust } from '../../edge/authority/trust.ts'
import { Fences } from '../../edge/files/fences.ts'
import { Fault, sentenceOf } from '../../model/errors.ts'
import { epochAhead } from '../../model/run.ts'
import { systemClock } from '../../primitives/clock.ts'
import { createLog } from '../../runtime/log.ts'
import { openShelf } from '../assemble.ts'
import { agentClient } from '../edges.ts'

type Agents = Config['agents']

/**
 * The highest epoch of any store that has changed an edge of these configurations. Agents are asked, with the enrolments in the store
 * of the first configuration. Rejects with a sentence if one of them does not answer.
 */
export async function highestEdgeEpoch(first: Config, ...others: readonly Config[]): Promise<number> {
  const configs = [first, ...others]
  const folders = new Set(configs.flatMap(({ edges }) => Object.values(edges).map(({ folder }) => folder)))
  const local = [...folders].map((folder) => new Fences(folder, systemClock).highestEpoch())
  const agents = configs.flatMap((config) => Object.entries(config.agents))
  const distinct = new Map(agents.map(([server, agent]) => [JSON.stringify([server, agent]), { server, agent }]))
  const remote = await withTrust(first, [...distinct.values()], (trust) =>
    Promise.all([...distinct.values()].map(({ server, agent }) => epochOf(server, agent, trust))),
  )
  return Math.max(0, ...local, ...remote)
}

/** A service must not hold the store meanwhile, so it is opened only for agents that need a certificate. */
async function withTrust<T>(
  config: Config,
  agents: readonly { readonly agent: Agents[string] }[],
  work: (trust: EdgeTrust) => Promise<T>,
): Promise<T> {
  const isTls = agents.some(({ agent }) => !('socket' in agent))
  const shelf = isTls ? await openShelf(config) : NO_SHELF
  return work(new EdgeTrust({ shelf, instance: 'console', now: systemClock.now })).finally(() => shelf.close())
}

const refuse = () => Promise.reject(new Error('No agent is reached over TLS.'))
const NO_SHELF = { read: refuse, change: refuse, putOnce: refuse, close: async () => undefined }

async function epochOf(server: string, agent: Agents[string], trust: EdgeTrust): Promise<number> {
  const client = agentClient({ server, agent, trust, clock: systemClock }, createLog('silent', []))
  try {
    return believedEpoch(server, (await client.describe()).epoch)
  } catch (error) {
    throw new Error(
      `${sentenceOf(error)} Its epoch must be known, so nothing was copied. ` +
        `Mend that and copy again, or remove edges.${server} from both configurations for the copy.`,
    )
  } finally {
    client.reconnect()
  }
}

/** The epoch that an edge tells. Throws for one that is too far ahead. */
export function believedEpoch(server: string, epoch: number): number {
  const now = systemClock.now()
  const ahead = epochAhead(epoch, now)
  if (ahead === undefined) return epoch
  throw new Fault(
    `Edge ${server} tells an epoch that is ${ahead} ahead of the clock of this machine (${new Date(now).toISOString()}). Compare the ` +
      `clocks of both machines. If they agree, somebody has written a wrong epoch on edge ${server}.`,
  )
}
