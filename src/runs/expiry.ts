import type { Log } from '../runtime/log.ts'
import type { Exposure, ExposureStore } from '../store/ports/exposures.ts'
import type { RunResult } from './engine/runs.ts'

export interface ExpiryParts {
  readonly store: Pick<ExposureStore, 'exposuresDue'>
  readonly exposer: {
    /** Undefined where the life of the exposure is not over after all: it was prolonged, or is gone. */
    expire(planId: string): Promise<{ readonly result: Promise<RunResult> } | undefined>
  }
  readonly log: Log
  readonly now: () => number
}

interface Wait {
  readonly until: number
  readonly pauseMs: number
}

const FIRST_PAUSE_MS = 2_000
const LONGEST_PAUSE_MS = 600_000
const AT_ONCE = 16
/** What failed before never takes all places. */
const RETRIES_AT_ONCE = 4

/** Removes the exposures whose life is over. One that cannot be removed is tried again, ever more rarely, and delays no other one. */
export class Expiry {
  readonly #parts: ExpiryParts
  readonly #waits = new Map<string, Wait>()
  readonly #underWay = new Set<string>()

  constructor(parts: ExpiryParts) {
    this.#parts = parts
  }

  /** Begins what is due and can begin. Does not wait for its end. */
  async look(): Promise<void> {
    const { store, now } = this.#parts
    const due = await store.exposuresDue(now())
    const ids = new Set(due.map(({ planId }) => planId))
    for (const planId of this.#waits.keys())
      if (!ids.has(planId) && !this.#underWay.has(planId)) this.#waits.delete(planId)
    const ready = due.filter(({ planId }) => !this.#underWay.has(planId) && this.#isReady(planId))
    const [retries, first] = [ready.filter((one) => this.#failed(one)), ready.filter((one) => !this.#failed(one))]
    const retriesUnderWay = [...this.#underWay].filter((planId) => this.#waits.has(planId)).length
    const next = [...first, ...retries.slice(0, Math.max(0, RETRIES_AT_ONCE - retriesUnderWay))]
    for (const exposure of next.slice(0, Math.max(0, AT_ONCE - this.#underWay.size))) void this.#remove(exposure)
  }

  #isReady(planId: string): boolean {
    return this.#parts.now() >= (this.#waits.get(planId)?.until ?? 0)
  }

  #failed({ planId }: Exposure): boolean {
    return this.#waits.has(planId)
  }

  async #remove({ planId, host }: Exposure): Promise<void> {
    const { log, now } = this.#parts
    this.#underWay.add(planId)
    log.info({ planId, host }, 'Lifetime of the exposure is over; removing it')
    const isDone = await this.#isDone(planId).catch((error: unknown) => {
      log.error({ err: error, planId, host }, 'Exposure could not remove itself; retrying')
      return false
    })
    this.#underWay.delete(planId)
    const { pauseMs } = this.#waits.get(planId) ?? { pauseMs: FIRST_PAUSE_MS }
    if (isDone) this.#waits.delete(planId)
    else this.#waits.set(planId, { until: now() + pauseMs, pauseMs: Math.min(2 * pauseMs, LONGEST_PAUSE_MS) })
  }

  async #isDone(planId: string): Promise<boolean> {
    const started = await this.#parts.exposer.expire(planId)
    return !started || (await started.result).outcome.kind === 'succeeded'
  }
}
