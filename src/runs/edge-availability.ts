import type { Edge } from '../edge/contract/edge.ts'
import { EdgeFault, OwnedElsewhere } from '../edge/contract/fault.ts'
import { Problem } from '../model/errors.ts'
import type { Clock } from '../primitives/clock.ts'
import { FairClock } from '../primitives/fair-clock.ts'
import { poll } from '../primitives/retry.ts'
import type { Instance, InstanceStore } from '../store/ports/instances.ts'

interface EdgeAvailabilityParts {
  readonly primary: Pick<Edge, 'server' | 'list'> | undefined
  readonly secondary: Pick<Edge, 'server' | 'list'> | undefined
  /** Makes this process the owner of an nginx that it changes itself. Throws `OwnedElsewhere` if another one is. */
  readonly own?: (server: string) => void
  /** The Primary of the installation, whether this instance has its edge or not. */
  readonly primaryServer: string
  readonly instance: string
  readonly store: Pick<InstanceStore, 'liveInstances'>
  readonly clock: Clock
  /** How long an edge may take to answer. Time in which this process was late is not counted. */
  readonly patienceMs?: number
  /** An agent that is started again is back within this time. What waits for it is not refused. */
  readonly restartMs?: number
}

/** Who executes a run: this instance, or another one that takes it up. */
export type Place = 'here' | 'elsewhere'

/** How long an answer counts. */
const FRESH_MS = 1_000
const PATIENCE_MS = 2_000
/** On a slow machine an agent takes several seconds to start. */
const RESTART_MS = 10_000

/**
 * Which edges this instance can change at the moment. Work that needs an edge is left to instances that can reach it: one that
 * cannot would take the lease of a run away from them and not get on with it.
 */
export class EdgeAvailability {
  readonly #parts: Required<EdgeAvailabilityParts>
  #asked: { readonly at: number; readonly servers: Promise<readonly string[]> } | undefined
  /** Why this process cannot change the Primary's edge although it is reached: another process owns it, or its agent is too old. */
  #refused: EdgeFault | undefined

  constructor(parts: EdgeAvailabilityParts) {
    this.#parts = { patienceMs: PATIENCE_MS, restartMs: RESTART_MS, own: () => undefined, ...parts }
  }

  /** The servers whose edges answer. */
  servers(): Promise<readonly string[]> {
    const at = this.#parts.clock.monotonic()
    if (!this.#asked || at - this.#asked.at > FRESH_MS) this.#asked = { at, servers: this.#ask() }
    return this.#asked.servers
  }

  async hasPrimary(): Promise<boolean> {
    const { primary } = this.#parts
    return primary !== undefined && (await this.servers()).includes(primary.server)
  }

  /** Where a run that changes the Primary's edge can be executed. A problem: nowhere at the moment. */
  async place(): Promise<Place | Problem> {
    const { primary, primaryServer, restartMs, clock } = this.#parts
    if (await this.hasPrimary()) return 'here'
    if (await this.#answersOthers()) return 'elsewhere'
    // Without a configured edge the run is refused with the setting that is missing.
    if (!primary || (await poll(() => this.#hasPrimaryNow(), Boolean, { firstMs: 100, withinMs: restartMs, clock })))
      return 'here'
    if (await this.#answersOthers()) return 'elsewhere'
    const refused = this.#refused
    const isOwned = refused instanceof OwnedElsewhere
    const unreached = refused?.message ?? `No instance can reach edge ${primaryServer} at the moment.`
    return new Problem('unavailable', isOwned ? `Edge ${primaryServer} is not prepared: ${unreached}` : unreached, {
      retryAfter: 5,
      nextAction: `Check ${isOwned ? 'the owner' : 'the agent'} of edge ${primaryServer}, and send the same request again.`,
    })
  }

  /** Why a run cannot be executed by any instance now. Undefined if it can. */
  async refusal(): Promise<Problem | undefined> {
    const place = await this.place()
    return place instanceof Problem ? place : undefined
  }

  /** A "no" does not count for the next question. */
  async #hasPrimaryNow(): Promise<boolean> {
    const has = await this.hasPrimary()
    if (!has) this.#asked = undefined
    return has
  }

  async #answersOthers(): Promise<boolean> {
    const { store, primaryServer, instance, clock } = this.#parts
    const alive = await store.liveInstances(clock.now()).catch((): Instance[] => [])
    return alive.some(({ name, edges }) => name !== instance && edges.includes(primaryServer))
  }

  async #ask(): Promise<readonly string[]> {
    const { primary, secondary, own, patienceMs, clock } = this.#parts
    const edges = [primary, secondary].filter((edge) => edge !== undefined)
    const ask = async (edge: Pick<Edge, 'server' | 'list'>) => {
      own(edge.server)
      await edge.list([])
    }
    const answers = await Promise.all(edges.map((edge) => answerOf(ask(edge), patienceMs, clock)))
    const first = primary && answers[0]
    this.#refused = first instanceof EdgeFault && first.kind === 'unavailable' ? first : undefined
    return edges.filter((_, at) => answers[at] === true).map(({ server }) => server)
  }
}

/** True, or why there is none. */
async function answerOf(asked: Promise<void>, patienceMs: number, clock: Clock): Promise<unknown> {
  using fair = new FairClock(clock)
  const late = new Promise<unknown>((resolve) => fair.limit(patienceMs, () => resolve('late')))
  const answer = asked.then(
    () => true,
    (error: unknown) => error,
  )
  return await Promise.race([answer, late])
}
