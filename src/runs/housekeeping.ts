import type { HostsChecked } from '../model/host-status.ts'
import type { Clock } from '../primitives/clock.ts'
import { poll, type TryLimits } from '../primitives/retry.ts'
import { sharedNextRun } from '../primitives/shared-run.ts'
import type { Log } from '../runtime/log.ts'
import type { Pruned, Store } from '../store/ports/store.ts'
import type { Converge } from './converge.ts'
import { type DutyName, type DutyReport, type DutyResults, dutyReport, failedDuty, type NotDone } from './duties.ts'
import type { EdgeAvailability } from './edge-availability.ts'
import type { EdgePreparation } from './edge-preparation.ts'
import type { Duty } from './engine/duty.ts'
import { recover, takeUp } from './engine/recover.ts'
import type { Runs } from './engine/runs.ts'
import { settleRuns } from './engine/settle-runs.ts'
import { Expiry, type ExpiryParts } from './expiry.ts'
import { removeLateRecords } from './late-records.ts'
import { type MarksParts, rewriteMarks } from './marks.ts'
import type { Renewals } from './renewal/renewals.ts'
import type { StepParts } from './steps/context.ts'

interface HousekeepingParts extends Pick<StepParts, 'primary' | 'secondary' | 'providerFor' | 'readBack'> {
  readonly preparation: Pick<EdgePreparation, 'begin' | 'retry'>
  readonly store: Store
  readonly runs: Runs
  /** Undefined where no edge serves. */
  readonly renewals: Renewals | undefined
  readonly converge: Converge
  readonly exposer: ExpiryParts['exposer'] & MarksParts['exposer']
  readonly availability: Pick<EdgeAvailability, 'hasPrimary'>
  readonly duty: Duty
  /** Checks every host fully. Undefined: another instance checks the hosts. */
  readonly monitor: { checkAll(): Promise<HostsChecked | undefined> }
  /** How long what has ended is kept. */
  readonly retention: { readonly planDays: number; readonly auditDays: number; readonly eventDays: number }
  /** Warns of edges that log at debug level: their log would hold private keys. */
  readonly debugLogs: { check(): Promise<void> }
  /** Warns of parts of nginx's configuration that are not read. */
  readonly unread: { check(): Promise<void> }
  readonly instance: string
  readonly log: Log
  readonly clock: Clock
}

const BEGIN_PATIENCE_MS = 8_000
const JUST_BEGUN_MS = 5_000
const DAY_MS = 86_400_000
/** How long a request for a duty waits for another instance that does the same. */
const ELSEWHERE: Omit<TryLimits, 'clock'> = { firstMs: 100, factor: 1.5, longestMs: 1_000, withinMs: 60_000 }

/** Periodic work of the service: prepares edges, recovers interrupted runs, removes expired exposures, renews certificates. */
export function housekeeping(parts: HousekeepingParts) {
  const { preparation, store, runs, renewals, converge, exposer, availability, duty, log, clock } = parts
  const expiry = new Expiry({ store, exposer, log, clock })
  /** Work that needs the Primary's edge is left to instances that reach it. */
  const withEdge = async <T>(work: () => Promise<T>): Promise<T | NotDone> =>
    (await availability.hasPrimary()) ? work() : 'no_edge'
  const onDuty = async <T>(name: DutyName, work: () => Promise<T>): Promise<T | NotDone> =>
    (await duty(name, work)) ?? 'elsewhere'
  // A request during a run of the same duty gets the next run: the one under way may have read before something changed.
  const duties: Duties = {
    // A run that was committed a moment ago may not be registered in `runs` yet.
    recover: sharedNextRun(() => withEdge(() => recover(parts, clock.now() - JUST_BEGUN_MS))),
    converge: sharedNextRun(() =>
      onDuty('converge', async () => {
        const converged = await converge.reconcile()
        await settleRuns({ store, edges: [parts.primary, parts.secondary].flatMap((edge) => edge ?? []) })
        return converged
      }),
    ),
    expire: sharedNextRun(() => withEdge(() => expiry.removeAllDue())),
    renew: sharedNextRun(() =>
      withEdge(async () => (renewals ? onDuty('renew', () => renewals.reconcile()) : 'no_edge')),
    ),
    marks: sharedNextRun(() =>
      withEdge(() =>
        onDuty('marks', async () => ({ ...(await rewriteMarks(parts)), ...(await removeLateRecords(parts)) })),
      ),
    ),
    check: sharedNextRun(() => withEdge(async () => (await parts.monitor.checkAll()) ?? 'others_duty')),
    prune: sharedNextRun(() => onDuty('prune', () => prune(parts))),
  }
  return {
    async begin(): Promise<void> {
      // The log levels are known before a run brings a private key to an edge.
      const begun = Promise.all([parts.debugLogs.check(), preparation.begin()])
        .then(() => withEdge(() => recover(parts)))
        .then(duties.converge)
        .then(duties.renew)
        .then(duties.marks)
        .catch((error: unknown) =>
          log.error({ event: 'start_incomplete', err: error }, 'Recovery at start failed; retrying'),
        )
      // The service starts to answer after this time even if an edge, a DNS server or the store hangs.
      await Promise.race([begun, clock.sleep(BEGIN_PATIENCE_MS, { ref: false })])
    },
    recover: duties.recover,
    /** Callers wait for these runs, so the next call does not wait for the runs of this one. */
    takeUp: sharedNextRun(() => takeUp({ ...parts, reaches: () => availability.hasPrimary() })),
    prepare: () => preparation.retry(),
    /** Starts the removals and does not wait for their ends, so that the next call comes in time. */
    expire: () => withEdge(() => expiry.removeDue()),
    renew: duties.renew,
    converge: duties.converge,
    convergeIfAway: async () => (converge.isAway ? duties.converge() : undefined),
    rewriteMarks: duties.marks,
    prune: duties.prune,
    perform: (name: DutyName) => {
      if (name === 'converge') converge.tryAll()
      return perform(duties, name, parts)
    },
    checkLogLevels: async () => {
      await parts.debugLogs.check()
      await parts.unread.check()
    },
    async drain(limitMs: number): Promise<void> {
      await Promise.all([runs.drain(limitMs), renewals?.drain(limitMs)])
    },
  }
}

type Duties = { readonly [Name in DutyName]: () => Promise<DutyResults[Name] | NotDone> }

/** Runs a duty now and says what it did. Never rejects. */
async function perform<Name extends DutyName>(
  duties: Duties,
  name: Name,
  { log, clock }: Pick<HousekeepingParts, 'log' | 'clock'>,
): Promise<DutyReport> {
  try {
    return dutyReport(name, await poll(duties[name], (result) => result !== 'elsewhere', { ...ELSEWHERE, clock }))
  } catch (error) {
    log.error(
      { event: 'housekeeping_failed', err: error },
      'Housekeeping by request failed; retrying at the next interval.',
    )
    return failedDuty(name, error)
  }
}

function prune({ store, retention, clock }: HousekeepingParts): Promise<Pruned> {
  const at = clock.now()
  const before = (days: number) => at - days * DAY_MS
  return store.prune({
    plansBefore: before(retention.planDays),
    auditBefore: before(retention.auditDays),
    eventsBefore: before(retention.eventDays),
    now: at,
  })
}
