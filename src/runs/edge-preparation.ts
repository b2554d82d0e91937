import type { Edge } from '../edge/contract/edge.ts'
import { OwnedElsewhere } from '../edge/contract/fault.ts'
import type { Clock } from '../primitives/clock.ts'
import { type Pauses, pauseAfter } from '../primitives/retry.ts'
import type { Log } from '../runtime/log.ts'

/** nginx may be started or repaired while the service runs. */
const PAUSES: Pauses = { firstMs: 5_000, factor: 2, longestMs: 300_000 }

interface Failure {
  readonly reason: string
  readonly tries: number
  /** By the monotonic clock. */
  readonly nextAt: number
}

interface EdgePreparationParts {
  readonly edges: readonly Pick<Edge, 'server' | 'prepare'>[]
  readonly primary: string
  readonly log: Log
  readonly clock: Pick<Clock, 'monotonic'>
}

/** Writes the base files of the edges. An edge that cannot be prepared is tried again, after longer and longer pauses. */
export class EdgePreparation {
  readonly #parts: EdgePreparationParts
  readonly #failures = new Map<string, Failure>()

  constructor(parts: EdgePreparationParts) {
    this.#parts = parts
  }

  /** Called once, when the service starts. */
  async begin(): Promise<void> {
    await Promise.all(this.#parts.edges.map((edge) => this.#prepare(edge)))
  }

  /** Tries the edges again that are due. Called at regular times. */
  async retry(): Promise<void> {
    for (const edge of this.#parts.edges) {
      const failure = this.#failures.get(edge.server)
      if (failure && failure.nextAt <= this.#parts.clock.monotonic()) await this.#prepare(edge)
    }
  }

  /** Whether the last try to prepare the edge has succeeded. */
  isPrepared(server: string): boolean {
    return !this.#failures.has(server)
  }

  /** Why nothing can be applied. Undefined where it can. The sentence may name files. */
  get refusal(): string | undefined {
    return this.#failures.get(this.#parts.primary)?.reason
  }

  /** Public callers may read it, so it names no file. Nothing depends on the Secondary. */
  get warnings(): readonly string[] {
    const { primary } = this.#parts
    if (!this.#failures.has(primary)) return []
    return [
      `Edge ${primary} is not ready, so this installation can only plan. Retrying automatically. Run drawbridge doctor on the server.`,
    ]
  }

  async #prepare({ server, prepare }: Pick<Edge, 'server' | 'prepare'>): Promise<void> {
    const { log, clock } = this.#parts
    const former = this.#failures.get(server)
    try {
      await prepare()
      this.#failures.delete(server)
      if (former) log.info({ event: 'edge_ready', server }, 'Edge is ready')
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      const tries = (former?.tries ?? 0) + 1
      // The former owner may be ending: this one goes on as soon as it has.
      const pauseMs = error instanceof OwnedElsewhere ? 0 : pauseAfter(tries, PAUSES)
      this.#failures.set(server, { reason, tries, nextAt: clock.monotonic() + pauseMs })
      if (former?.reason !== reason)
        log.error({ event: 'edge_not_ready', err: error, server }, 'Edge is not ready; retrying')
    }
  }
}
