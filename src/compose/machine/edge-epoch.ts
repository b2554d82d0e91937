import type { Config } from '../../config/config.ts'
import { EdgeTrust } from '../../edge/authority/trust.ts'
import { Fences } from '../../edge/fences/fences.ts'
import { Fault, sentenceOf } from '../../model/errors.ts'
import { epochAhead } from '../../model/run.ts'
import { systemClock } from '../../primitives/clock.ts'
import { createLog } from '../../runtime/log.ts'
import { agentClient } from '../edges.ts'
import { openShelf } from '../open-store.ts'

type Agents = Config['agents']

interface AskedAgent {
  readonly server: string
  readonly agent: Agents[string]
  /** Whether the former service reaches it. */
  readonly isFormer: boolean
}

/** `unknown`: agents that only the new configuration has, and why they did not tell their epoch. */
interface EdgeEpochs {
  readonly highest: number
  readonly unknown: readonly { readonly server: string; readonly reason: string }[]
}

/**
 * The highest epoch of any store that has changed an edge of these configurations. Agents are asked, with the enrolments in the store
 * of `from`. Rejects with a sentence if an agent of `from` does not answer: the former store has changed its edge. One that only `to` has
 * may start or join after the copy. Epochs are times, so the epoch of the copy is above those of its edge unless a clock was wrong.
 */
export async function highestEdgeEpoch(from: Config, to: Config): Promise<EdgeEpochs> {
  const folders = new Set([from, to].flatMap(({ edges }) => Object.values(edges).map(({ folder }) => folder)))
  const local = [...folders].map((folder) => new Fences(folder, systemClock).highestEpoch())
  const asked = agentsOf(from, to)
  const unknown: { server: string; reason: string }[] = []
  const remote = await withTrust(from, asked, (trust) =>
    Promise.all(
      asked.map(async (one) => {
        const told = await toldEpoch(one, trust).catch((error: unknown) => ({ reason: sentenceOf(error) }))
        if (typeof told === 'number') return believedEpoch(one.server, told)
        if (one.isFormer) throw new Fault(`${told.reason} ${MUST_BE_KNOWN(one.server)}`)
        unknown.push({ server: one.server, ...told })
        return 0
      }),
    ),
  )
  return { highest: Math.max(0, ...local, ...remote), unknown }
}

function agentsOf(from: Config, to: Config): AskedAgent[] {
  const key = (server: string, agent: Agents[string]) => JSON.stringify([server, agent])
  const former = new Map(Object.entries(from.agents).map(([server, agent]) => [key(server, agent), { server, agent }]))
  const added = Object.entries(to.agents).filter(([server, agent]) => !former.has(key(server, agent)))
  return [
    ...[...former.values()].map((one) => ({ ...one, isFormer: true })),
    ...added.map(([server, agent]) => ({ server, agent, isFormer: false })),
  ]
}

const MUST_BE_KNOWN = (server: string): string =>
  `Its epoch must be known, so nothing was copied. Mend that and copy again, or remove edges.${server} from both configurations for the copy.`

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

async function toldEpoch({ server, agent }: AskedAgent, trust: EdgeTrust): Promise<number> {
  const client = agentClient({ server, agent, trust, clock: systemClock }, createLog('silent', []))
  try {
    return (await client.describe()).epoch
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
