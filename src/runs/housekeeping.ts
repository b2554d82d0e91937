import type { Clock } from '../primitives/clock.ts'
import { sharedNextRun } from '../primitives/shared-run.ts'
import type { Log } from '../runtime/log.ts'
import type { Store } from '../store/ports/store.ts'
import type { Converge } from './converge.ts'
import type { EdgePreparation } from './edge-preparation.ts'
import type { Duty } from './engine/duty.ts'
import { recover, takeUp } from './engine/recover.ts'
import type { Runs } from './engine/runs.ts'
import { Expiry, type ExpiryParts } from './expiry.ts'
import type { Reach } from './reach.ts'
import type { Renewals } from './renewals.ts'
import type { StepParts } from './steps/context.ts'

interface HousekeepingParts extends Pick<StepParts, 'primary' | 'secondary'> {
  readonly preparation: Pick<EdgePreparation, 'begin' | 'retry'>
  readonly store: Store
  readonly runs: Runs
  /** Undefined where no edge serves. */
  readonly renewals: Renewals | undefined
  readonly converge: Converge
  readonly exposer: ExpiryParts['exposer']
  readonly reach: Pick<Reach, 'hasPrimary'>
  readonly duty: Duty
  /** Warns of edges that log at debug level: their log would hold private keys. */
  readonly debugLogs: { check(): Promise<void> }
  readonly instance: string
  readonly log: Log
  readonly clock: Clock
}

const BEGIN_PATIENCE_MS = 8_000
const JUST_BEGUN_MS = 5_000

/** Periodic work of the service: prepares edges, recovers interrupted runs, removes expired exposures, renews certificates. */
export function housekeeping(parts: HousekeepingParts) {
  const { preparation, store, runs, renewals, converge, exposer, reach, duty, log, clock } = parts
  const expiry = new Expiry({ store, exposer, log, now: clock.now })
  /** Work that needs the Primary's edge is left to instances that reach it. */
  const withEdge = async (work: () => Promise<unknown>) => {
    if (await reach.hasPrimary()) await work()
  }
  const renew = () => withEdge(() => duty('renew', async () => renewals?.look()))
  const bringIntoStep = () => duty('converge', () => converge.look())
  return {
    async begin(): Promise<void> {
      const begun = parts.debugLogs
        .check()
        .then(() => preparation.begin())
        .then(() => withEdge(() => recover(parts)))
        .then(bringIntoStep)
        .then(renew)
        .catch((error: unknown) =>
          log.error({ event: 'start_incomplete', err: error }, 'Recovery at start failed; retrying'),
        )
      // The service starts to answer after this time even if an edge, a DNS server or the store hangs.
      await Promise.race([begun, clock.sleep(BEGIN_PATIENCE_MS, { ref: false })])
    },
    // A run that was committed a moment ago may not be registered in `runs` yet.
    recover: () => withEdge(() => recover(parts, clock.now() - JUST_BEGUN_MS)),
    /** Callers wait for these runs, so the next look does not wait for this one's runs. */
    takeUp: sharedNextRun(() => takeUp({ ...parts, reaches: () => reach.hasPrimary() })),
    prepare: () => preparation.retry(),
    expire: () => withEdge(() => expiry.removeDue()),
    renew,
    converge: bringIntoStep,
    convergeIfAway: () => duty('converge', () => converge.lookIfAway()),
    checkLogLevels: () => parts.debugLogs.check(),
    async drain(limitMs: number): Promise<void> {
      await Promise.all([runs.drain(limitMs), renewals?.drain(limitMs)])
    },
  }
}
