import type { Bench } from './engines.ts'
import { auditSuite } from './store/audit.ts'
import { capabilitySuite } from './store/capabilities.ts'
import { durabilitySuite } from './store/durability.ts'
import { eventSuite } from './store/events.ts'
import { exposureSuite } from './store/exposures.ts'
import { hostSuite } from './store/hosts.ts'
import { instanceSuite } from './store/instances.ts'
import { ledgerSuite } from './store/orders/ledger.ts'
import { orderSuite } from './store/orders/orders.ts'
import { renewalSuite } from './store/orders/renewals.ts'
import { outboxSuite } from './store/outbox.ts'
import { planSuite } from './store/plans.ts'
import { pruneSuite } from './store/prune.ts'
import { requestCountSuite } from './store/request-counts.ts'
import { beginningSuite } from './store/runs/beginning.ts'
import { journalSuite } from './store/runs/journal.ts'
import { leaseSuite } from './store/runs/leases.ts'
import { runSuite } from './store/runs/runs.ts'
import { secretSuite } from './store/secrets.ts'
import { transactionSuite } from './store/transactions.ts'

/** The contract of a store. Each engine has its own test file, so that they run in parallel. */
export function storeSuite(on: Bench): void {
  planSuite(on)
  capabilitySuite(on)
  exposureSuite(on)
  leaseSuite(on)
  instanceSuite(on)
  requestCountSuite(on)
  secretSuite(on)
  runSuite(on)
  journalSuite(on)
  orderSuite(on)
  hostSuite(on)
  ledgerSuite(on)
  renewalSuite(on)
  transactionSuite(on)
  beginningSuite(on)
  auditSuite(on)
  eventSuite(on)
  outboxSuite(on)
  pruneSuite(on)
  durabilitySuite(on)
}
