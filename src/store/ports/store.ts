import type { AuditStore } from './audit.ts'
import type { CapabilityStore } from './capabilities.ts'
import type { ChangeFeed, EventStore } from './events.ts'
import type { ExposureStore } from './exposures.ts'
import type { HostStore } from './hosts.ts'
import type { BackupLog, StoreIdentity } from './identity.ts'
import type { InstanceStore } from './instances.ts'
import type { LeaseStore } from './leases.ts'
import type { OrderStore } from './orders.ts'
import type { PlanStore } from './plans.ts'
import type { RequestCountStore } from './request-counts.ts'
import type { RunStore } from './runs.ts'
import type { SecretStore } from './secrets.ts'
import type { WebhookStore } from './webhooks.ts'

/**
 * The database did not answer, or could not write. The call may or may not have taken effect. `cause` may name servers
 * and is only for the log. `full`: the folder whose disk has no space left.
 */
export class StoreUnavailable extends Error {
  /** The message for those who may not know where the store is. */
  readonly outside: string

  constructor(cause: unknown, full?: string) {
    super(
      full === undefined
        ? 'The store does not answer.'
        : `The store cannot write: the disk of ${full} is full. Free space there.`,
      { cause },
    )
    this.outside = full === undefined ? this.message : 'The store cannot write: its disk is full.'
  }
}

/**
 * Everything that can be called alone or inside a transaction. Times are milliseconds since 1970 and come from the
 * caller. When the database fails, the call rejects with StoreUnavailable; inside a transaction the transaction does.
 * Methods may be called concurrently, by any number of instances.
 */
export interface StoreSession
  extends PlanStore,
    CapabilityStore,
    ExposureStore,
    RunStore,
    OrderStore,
    HostStore,
    LeaseStore,
    StoreIdentity,
    BackupLog,
    InstanceStore,
    SecretStore,
    RequestCountStore,
    AuditStore,
    EventStore,
    WebhookStore {}

/**
 * What callers read of the store. While the database does not answer, an implementation may answer from memory; what it does not
 * remember rejects with StoreUnavailable. Never decide a change by it.
 */
export interface StoreReads
  extends Pick<PlanStore, 'findPlan' | 'listPlans'>,
    Pick<RunStore, 'runsOf' | 'newestRuns' | 'readJournal'>,
    Pick<ExposureStore, 'findExposure'>,
    Pick<EventStore, 'readEvents' | 'readEventsBefore' | 'eventHead'>,
    Pick<AuditStore, 'readAudit' | 'auditHead'> {
  /** For how long nothing confirms the answers, because they come from memory. Undefined while the store answers. */
  unconfirmedMs(): number | undefined
}

/** `Session` is the part of the store that the caller's transactions need. */
export interface Transactions<Session> {
  /**
   * Runs `work` atomically: it is committed, and durable, when the call resolves, and rolled back when `work` rejects. Rejects
   * with the error of `work`. Transactions cannot be nested: a call of the store by `work` is refused, it uses its session
   * only. `work` awaits nothing but its session, because the work of other calls may wait for it: several calls may share
   * one transaction of the database, where each is still rolled back alone. `work` is called again when the database has rolled
   * it back because of another transaction (deadlock), so it changes nothing but the session.
   */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>
}

/** How many rows of each kind a prune has deleted. */
export interface Pruned {
  readonly plans: number
  readonly events: number
  readonly auditLines: number
}

/** All ports on one database. A caller that needs a few of them declares only those. */
export interface Store extends StoreSession, Transactions<StoreSession>, ChangeFeed {
  /**
   * Removes in one transaction what is old and no longer needed at `now`. Repeatable, and several instances may call
   * it.
   * - Created before `plansBefore`: expired plans that never became live, with their runs and journals, and
   *   capabilities that are spent or expired.
   * - Converges that ended before `plansBefore`, with their journals.
   * - Removed plans whose last run ended before `auditBefore`.
   * - Audit lines older than `auditBefore`, from the beginning of the chain. A new `prune` line records the hash from
   *   which the chain now begins.
   * - Events older than `eventsBefore`, with their deliveries.
   * - Lines of the order ledger that are older than 60 days.
   * - Counts of requests whose window is over.
   */
  prune(limits: { plansBefore: number; auditBefore: number; eventsBefore: number; now: number }): Promise<Pruned>
  /** Rejects when the database does not answer. */
  ping(): Promise<void>
  /** Closes the connections. No other method may be called afterwards. */
  close(): Promise<void>
}
