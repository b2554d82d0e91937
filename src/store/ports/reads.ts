import type { AuditStore } from './audit.ts'
import type { EventStore } from './events.ts'
import type { ExposureStore } from './exposures.ts'
import type { PlanStore } from './plans.ts'
import type { RunStore } from './runs.ts'

/**
 * What callers read of the store. While the database does not answer, an implementation may answer from memory; what it does not
 * remember rejects with StoreUnavailable. Never decide a change by it.
 */
export interface StoreReads
  extends Pick<PlanStore, 'findPlan' | 'listPlans'>,
    Pick<RunStore, 'runsOf' | 'newestRuns' | 'readJournal'>,
    Pick<ExposureStore, 'findExposure'>,
    Pick<EventStore, 'readEvents' | 'eventHead'>,
    Pick<AuditStore, 'readAudit' | 'auditHead'> {
  /** For how long nothing confirms the answers, because they come from memory. Undefined while the store answers. */
  unconfirmedMs(): number | undefined
}
