import type { AuditTrail } from '../audit/trail.ts'
import type { Clock, Timer } from '../primitives/clock.ts'
import type { Log } from '../runtime/log.ts'

/** The work that the service does at regular times, without a request. */
export interface RegularWork {
  /** Finishes runs whose instance has stopped. */
  recover(): Promise<unknown>
  /** Prepares edges that could not be prepared before. */
  prepare(): Promise<void>
  /** Removes expired exposures. */
  expire(): Promise<unknown>
  /** Brings edges that missed something into step with the store. */
  converge(): Promise<unknown>
  /** The same while the Secondary takes no change. */
  convergeIfAway(): Promise<unknown>
  /** Renews certificates that are due, and finishes interrupted renewals. */
  renew(): Promise<unknown>
  /** Rewrites owner marks of earlier versions, which hold the id of a plan. */
  rewriteMarks(): Promise<unknown>
  /** Deletes what is older than the retention of the configuration. */
  prune(): Promise<unknown>
  /** Checks whether an edge logs at debug level. */
  checkLogLevels(): Promise<void>
}

interface LoopParts {
  readonly housekeeping: RegularWork
  readonly trail: Pick<AuditTrail, 'flush'>
  readonly log: Log
  readonly clock: Clock
}

interface LoopSettings {
  readonly takeOverSeconds: number
  readonly renewEverySeconds: number
}

const FLUSH_MS = 5_000
const PRUNE_MS = 3_600_000
const RECOVER_MS = 10_000
const EXPIRE_MS = 2_000
const PREPARE_MS = 2_000
const CONVERGE_MS = 20_000
const AWAY_MS = 5_000
const LOG_LEVELS_MS = 5_000

/** Begins everything that the service does at regular times. Returns what ends it. */
export function startLoops(parts: LoopParts, { takeOverSeconds, renewEverySeconds }: LoopSettings): () => void {
  const { housekeeping, trail, clock } = parts
  const loops = [
    every(FLUSH_MS, parts, () => trail.flush(clock.now())),
    every(PRUNE_MS, parts, () => housekeeping.prune()),
    every(PRUNE_MS, parts, () => housekeeping.rewriteMarks()),
    // A run whose instance died is taken up soon after its lease has run out.
    every(Math.min(RECOVER_MS, takeOverSeconds * 400), parts, () => housekeeping.recover()),
    every(PREPARE_MS, parts, () => housekeeping.prepare()),
    every(EXPIRE_MS, parts, () => housekeeping.expire()),
    every(CONVERGE_MS, parts, () => housekeeping.converge()),
    every(AWAY_MS, parts, () => housekeeping.convergeIfAway()),
    every(LOG_LEVELS_MS, parts, () => housekeeping.checkLogLevels()),
    every(renewEverySeconds * 1000, parts, () => housekeeping.renew()),
  ]
  return () => {
    for (const stop of loops) stop()
  }
}

/** Runs `work` at regular intervals, never twice at the same time. Logs a failure and tries again at the next interval. */
export function every(
  intervalMs: number,
  { log, clock }: Pick<LoopParts, 'log' | 'clock'>,
  work: () => Promise<unknown>,
): () => void {
  let stopped = false
  let timer: Timer
  const turn = async () => {
    await work().catch((error: unknown) =>
      log.error({ event: 'housekeeping_failed', err: error }, 'Housekeeping failed; retrying at the next interval.'),
    )
    if (!stopped) timer = clock.after(intervalMs, turn)
  }
  timer = clock.after(intervalMs, turn)
  return () => {
    stopped = true
    timer.cancel()
  }
}
