import { setTimeout as sleep } from 'node:timers/promises'
import type { Edge } from '../edge/contract.ts'
import { Problem } from '../model/errors.ts'
import { poll } from '../primitives/retry.ts'
import type { InstanceStore } from '../store/ports/instances.ts'

interface ReachParts {
  readonly primary: Pick<Edge, 'server' | 'generation'> | undefined
  readonly secondary: Pick<Edge, 'server' | 'generation'> | undefined
  readonly store: Pick<InstanceStore, 'liveInstances'>
  readonly now: () => number
}

/** How long an answer counts, and how long an edge may take for it. */
const FRESH_MS = 1_000
const PATIENCE_MS = 2_000

/** An agent that is started again is back within this time. What waits for it is not refused. */
const RESTART_MS = 3_000

/**
 * Which edges this instance can change at the moment. Work that needs an edge is left to instances that can reach it: one that
 * cannot would take the lease of a run away from them and not get on with it.
 */
export class Reach {
  readonly #parts: ReachParts
  #asked: { readonly at: number; readonly servers: Promise<readonly string[]> } | undefined

  constructor(parts: ReachParts) {
    this.#parts = parts
  }

  /** The servers whose edges answer. */
  servers(): Promise<readonly string[]> {
    const at = performance.now()
    if (!this.#asked || at - this.#asked.at > FRESH_MS) this.#asked = { at, servers: this.#ask() }
    return this.#asked.servers
  }

  async hasPrimary(): Promise<boolean> {
    const { primary } = this.#parts
    return primary !== undefined && (await this.servers()).includes(primary.server)
  }

  /** Why a run cannot begin here although the installation has an edge. Names the instances where it can. */
  async refusal(): Promise<Problem | undefined> {
    const { primary, store, now } = this.#parts
    if (!primary || (await poll(() => this.#hasPrimaryNow(), Boolean, { firstMs: 100, withinMs: RESTART_MS })))
      return undefined
    const alive = await store.liveInstances(now()).catch(() => [])
    const others = alive.filter(({ edges }) => edges.includes(primary.server)).map(({ address }) => address)
    return new Problem('unavailable', `This instance cannot reach edge ${primary.server}.`, {
      retryAfter: 5,
      nextAction:
        others.length > 0
          ? `Send the same request to ${others.join(' or ')}, or again later.`
          : 'Send the same request again later.',
    })
  }

  /** A "no" does not count for the next question. */
  async #hasPrimaryNow(): Promise<boolean> {
    const has = await this.hasPrimary()
    if (!has) this.#asked = undefined
    return has
  }

  async #ask(): Promise<readonly string[]> {
    const edges = [this.#parts.primary, this.#parts.secondary].filter((edge) => edge !== undefined)
    const answers = await Promise.all(edges.map((edge) => hasAnswer(edge)))
    return edges.filter((_, at) => answers[at]).map(({ server }) => server)
  }
}

const hasAnswer = (edge: Pick<Edge, 'generation'>): Promise<boolean> =>
  Promise.race([
    edge.generation().then(
      () => true,
      () => false,
    ),
    sleep(PATIENCE_MS, false, { ref: false }),
  ])
