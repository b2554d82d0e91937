import { Problem } from '../model/errors.ts'
import type { Clock } from '../primitives/clock.ts'
import type { Log } from '../runtime/log.ts'
import type { Exposure, ExposureStore } from '../store/ports/exposures.ts'
import type { RunResult } from './engine/ending.ts'

export interface ExpiryParts {
  readonly store: Pick<ExposureStore, 'exposuresDue'>
  readonly exposer: {
    /** Undefined if the exposure is not due any more: it was extended or removed. */
    expire(planId: string): Promise<{ readonly result: Promise<RunResult> } | undefined>
  }
  readonly log: Log
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
}

/** The hosts that were removed, those whose removal failed, and how many wait for another attempt. */
export interface Expired {
  readonly removed: readonly string[]
  readonly failed: readonly string[]
  readonly waiting: number
}

type Ended = 'removed' | 'not_due' | 'failed'

interface Wait {
  /** By the monotonic clock. */
  readonly until: number
  readonly pauseMs: number
}

const TAKEN: readonly Problem['code'][] = ['plan_busy', 'plan_not_applied']
const FIRST_PAUSE_MS = 2_000
const LONGEST_PAUSE_MS = 600_000
const AT_ONCE = 16
/** Exposures whose removal failed before never take all places. */
const RETRIES_AT_ONCE = 4

/** Removes expired exposures. A failed removal is retried with growing pauses and delays no other exposure. */
export class Expiry {
  readonly #parts: ExpiryParts
  readonly #waits = new Map<string, Wait>()
  readonly #underWay = new Map<string, Promise<{ readonly host: string; readonly ended: Ended }>>()

  constructor(parts: ExpiryParts) {
    this.#parts = parts
  }

  /** Starts the removals that are due, except of these plans. Does not wait until they end. */
  async removeDue(except: ReadonlySet<string> = new Set()): Promise<void> {
    const { store, clock } = this.#parts
    const due = await store.exposuresDue(clock.now())
    const ids = new Set(due.map(({ planId }) => planId))
    for (const planId of this.#waits.keys())
      if (!ids.has(planId) && !this.#underWay.has(planId)) this.#waits.delete(planId)
    const ready = due.filter(
      ({ planId }) => !except.has(planId) && !this.#underWay.has(planId) && this.#isReady(planId),
    )
    const [retries, first] = [ready.filter((one) => this.#failed(one)), ready.filter((one) => !this.#failed(one))]
    const retriesUnderWay = [...this.#underWay.keys()].filter((planId) => this.#waits.has(planId)).length
    const next = [...first, ...retries.slice(0, Math.max(0, RETRIES_AT_ONCE - retriesUnderWay))]
    for (const exposure of next.slice(0, Math.max(0, AT_ONCE - this.#underWay.size)))
      this.#underWay.set(exposure.planId, this.#remove(exposure))
  }

  /**
   * Removes everything that is due and waits until the removals end. Tries each exposure once: one that another run holds would
   * be tried without end. A removal that failed before keeps its pause.
   */
  async removeAllDue(): Promise<Expired> {
    const removed = new Set<string>()
    const failed = new Set<string>()
    const tried = new Set<string>()
    for (await this.removeDue(); this.#underWay.size > 0; await this.removeDue(tried)) {
      for (const planId of this.#underWay.keys()) tried.add(planId)
      for (const { host, ended } of await Promise.all(this.#underWay.values())) {
        if (ended === 'removed') removed.add(host)
        if (ended === 'failed') failed.add(host)
      }
    }
    return { removed: [...removed], failed: [...failed], waiting: this.#waits.size }
  }

  #isReady(planId: string): boolean {
    return this.#parts.clock.monotonic() >= (this.#waits.get(planId)?.until ?? 0)
  }

  #failed({ planId }: Exposure): boolean {
    return this.#waits.has(planId)
  }

  async #remove({ planId, host }: Exposure): Promise<{ readonly host: string; readonly ended: Ended }> {
    const { log, clock } = this.#parts
    log.info({ event: 'exposure_expiring', planId, host }, 'Exposure expired; removing it')
    const ended = await this.#end(planId).catch((error: unknown): Ended => {
      log.error({ event: 'expiry_failed', err: error, planId, host }, 'Removal of an expired exposure failed; retrying')
      return 'failed'
    })
    this.#underWay.delete(planId)
    const { pauseMs } = this.#waits.get(planId) ?? { pauseMs: FIRST_PAUSE_MS }
    if (ended !== 'failed') this.#waits.delete(planId)
    else
      this.#waits.set(planId, { until: clock.monotonic() + pauseMs, pauseMs: Math.min(2 * pauseMs, LONGEST_PAUSE_MS) })
    return { host, ended }
  }

  async #end(planId: string): Promise<Ended> {
    const started = await this.#parts.exposer.expire(planId).catch((fault: unknown) => {
      // Another instance was faster, or a caller removes it. If the exposure stays, the next call finds it again.
      if (fault instanceof Problem && TAKEN.includes(fault.code)) return undefined
      throw fault
    })
    if (!started) return 'not_due'
    return (await started.result).outcome.kind === 'succeeded' ? 'removed' : 'failed'
  }
}
