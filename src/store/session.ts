import type { Kysely } from 'kysely'
import type { Clock } from '../primitives/clock.ts'
import type { StoreSession } from './ports/store.ts'
import { auditLinesIn } from './queries/audit-lines.ts'
import { capabilitiesIn } from './queries/capabilities.ts'
import { eventsIn } from './queries/events.ts'
import { exposuresIn } from './queries/exposures.ts'
import { hostsIn } from './queries/hosts.ts'
import { identityIn } from './queries/identity.ts'
import { instancesIn } from './queries/instances.ts'
import { leasesIn } from './queries/leases.ts'
import { ledgerIn, ordersIn } from './queries/orders.ts'
import { outboxIn } from './queries/outbox.ts'
import { plansIn } from './queries/plans.ts'
import { renewalsIn } from './queries/renewals.ts'
import { requestCountsIn } from './queries/request-counts.ts'
import { journalIn, runsIn } from './queries/runs.ts'
import { secretsIn } from './queries/secrets.ts'
import type { Schema } from './schema.ts'

const AGGREGATES = [
  plansIn,
  capabilitiesIn,
  exposuresIn,
  runsIn,
  journalIn,
  ordersIn,
  hostsIn,
  ledgerIn,
  renewalsIn,
  leasesIn,
  identityIn,
  instancesIn,
  secretsIn,
  requestCountsIn,
  auditLinesIn,
  eventsIn,
  outboxIn,
] as const

type Methods = Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>

/** All methods, made at once: for the store itself, which is made once. */
export const sessionOn = (db: Kysely<Schema>, clock: Clock): StoreSession =>
  Object.assign({}, ...AGGREGATES.map((aggregate) => aggregate(db, clock)))

/** What others follow. */
const FOLLOWED = new Set(['appendEvent', 'appendJournal', 'putHosts', 'deleteHosts'])

/**
 * Makes the sessions of transactions. The methods of an aggregate are made when the first of them is called: a transaction uses two
 * aggregates of seventeen, and to make all took as long as a statement. `noted` is called when something is written that others follow.
 */
export function sessionMaker(
  store: Kysely<Schema>,
  clock: Clock,
): (running: Kysely<Schema>, noted: () => void) => StoreSession {
  class Session {
    readonly running: Kysely<Schema>
    readonly noted: () => void
    readonly made: (Methods | undefined)[] = []
    constructor(running: Kysely<Schema>, noted: () => void) {
      this.running = running
      this.noted = noted
    }
  }
  for (const [at, aggregate] of AGGREGATES.entries())
    for (const name of Object.keys(aggregate(store, clock)))
      Object.defineProperty(Session.prototype, name, {
        get(this: Session) {
          this.made[at] ??= aggregate(this.running, clock) as unknown as Methods
          if (FOLLOWED.has(name)) this.noted()
          return this.made[at][name]
        },
      })
  return (running, noted) => new Session(running, noted) as unknown as StoreSession
}
