import type { AuditStore } from './audit.ts'
import type { CapabilityStore } from './capabilities.ts'
import type { EventStore } from './events.ts'
import type { ExposureStore } from './exposures.ts'
import type { HostStore } from './hosts.ts'
import type { LeaseStore } from './leases.ts'
import type { OrderStore } from './orders.ts'
import type { PlanStore } from './plans.ts'
import type { RunStore } from './runs.ts'
import type { WebhookStore } from './webhooks.ts'

/** The database did not answer, or could not write. What was asked for may or may not have been done; `cause` is for the log. */
export class StoreUnavailable extends Error {
  constructor(cause: unknown) {
    super('the store does not answer', { cause })
  }
}

/** Everything that can be done alone or inside a transaction. Times are milliseconds since 1970 and always passed in. */
export interface StoreSession
  extends PlanStore,
    CapabilityStore,
    ExposureStore,
    RunStore,
    OrderStore,
    HostStore,
    LeaseStore,
    AuditStore,
    EventStore,
    WebhookStore {}

/** `Session` is what the caller's transactions need of the store. */
export interface Transactions<Session> {
  /** All of `work` or nothing of it. Not nested: `work` uses its session only, never the store. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>
}

/** All ports on one database. Whoever uses a few of them asks for those, not for this. */
export interface Store extends StoreSession, Transactions<StoreSession> {
  /**
   * Removes what is older than `plansBefore` and of no more use at `now`: plans that never went live and never will,
   * with their runs and journals, and capabilities spent or expired; of plans that were removed those whose last run ended
   * before `auditBefore`. Removes audit lines older than `auditBefore` from the beginning of the chain and
   * appends a `prune` line that vouches for what is then its beginning. Removes events older than `eventsBefore`, and with
   * them what was left of their deliveries.
   */
  prune(limits: { plansBefore: number; auditBefore: number; eventsBefore: number; now: number }): Promise<void>
  /** Throws when the database does not answer. */
  ping(): Promise<void>
  close(): Promise<void>
}
