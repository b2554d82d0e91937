import type { Clock } from '../../primitives/clock.ts'
import { endWithin, type OwnProcess } from '../../runtime/ending.ts'
import type { Log } from '../../runtime/log.ts'

/** An agent that owns its edge's folder and does not listen yet. */
export interface RunningAgent {
  readonly server: string
  /** Writes the base file of the edge, and checks that nginx serves it. */
  readonly prepare: () => Promise<void>
  /** Resolves with what ends the listeners. */
  readonly listen: () => Promise<Listening>
  readonly release: () => void
  readonly clock: Clock
}

interface Listening {
  /** Where services find the agent, for people. */
  readonly places: readonly string[]
  readonly close: () => Promise<void>
}

/** nginx may be started after the agent, or be repaired while it runs. */
const PREPARE_EVERY_MS = 10_000

/** The process ends this long after the signal, even if something hangs. The next start finishes or takes back a change that it cuts off. */
const SHUTDOWN_MS = 9_000

/** Listens until SIGTERM or SIGINT. nginx goes on serving without the agent. */
export async function runAgent(agent: RunningAgent, log: Log, own: Pick<OwnProcess, 'ended' | 'exit'>): Promise<void> {
  const { server, listen, release } = agent
  const ended = own.ended()
  const stopped = new AbortController()
  const prepared = prepareUntilDone(agent, log, stopped.signal)
  const { places, close } = await listen()
  log.info(
    { event: 'edge_agent_started', server, places },
    places.length === 0
      ? `The agent of edge ${server} has started, and listens once it has joined.`
      : `The agent of edge ${server} listens on ${places.join(' and ')}.`,
  )
  const signal = await ended
  log.info(
    { event: 'edge_agent_stopping', server, signal },
    'The agent is shutting down; changes under way are finished.',
  )
  endWithin(SHUTDOWN_MS, { log, clock: agent.clock, exit: own.exit })
  stopped.abort()
  await close()
  await prepared
  release()
}

async function prepareUntilDone({ server, prepare, clock }: RunningAgent, log: Log, signal: AbortSignal) {
  let told = ''
  while (!signal.aborted) {
    try {
      return await prepare()
    } catch (error) {
      const sentence = error instanceof Error ? error.message : String(error)
      if (sentence !== told) log.error({ event: 'edge_not_ready', err: error, server }, 'Edge is not ready')
      told = sentence
    }
    await clock.sleep(PREPARE_EVERY_MS, { signal })
  }
}
