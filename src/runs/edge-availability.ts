import type { Edge } from '../edge/contract.ts'
import { Problem } from '../model/errors.ts'
import type { Clock } from '../primitives/clock.ts'
import { FairClock } from '../primitives/fair-clock.ts'
import { poll } from '../primitives/retry.ts'
import type { Instance, InstanceStore } from '../store/ports/instances.ts'

interface EdgeAvailabilityParts {
  readonly primary: Pick<Edge, 'server' | 'list'> | undefined
  readonly secondary: Pick<Edge, 'server' | 'list'> | undefined
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

  constructor(parts: EdgeAvailabilityParts) {
    this.#parts = { patienceMs: PATIENCE_MS, restartMs: RESTART_MS, ...parts }
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
    return new Problem('unavailable', `No instance can reach edge ${primaryServer} at the moment.`, {
      retryAfter: 5,
      nextAction: `Check the agent of edge ${primaryServer}, and send the same request again.`,
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
    const { primary, secondary, patienceMs, clock } = this.#parts
    const edges = [primary, secondary].filter((edge) => edge !== undefined)
    const answers = await Promise.all(edges.map((edge) => hasAnswer(edge, patienceMs, clock)))
    return edges.filter((_, at) => answers[at]).map(({ server }) => server)
  }
}

async function hasAnswer(edge: Pick<Edge, 'list'>, patienceMs: number, clock: Clock): Promise<boolean> {
  using fair = new FairClock(clock)
  const late = new Promise<boolean>((resolve) => fair.limit(patienceMs, () => resolve(false)))
  const answer = edge.list([]).then(
    () => true,
    () => false,
  )
  return await Promise.race([answer, late])
}
