import type { AuditEntry, AuditLine } from '../model/audit.ts'
import type { CapabilityAction } from '../model/capability.ts'
import type { NewEvent, StoredEvent } from '../model/event.ts'
import type { Plan, PlanState } from '../model/exposure.ts'
import type { HostStatus } from '../model/host-status.ts'
import type { AuthorityPause, LedgerLine, OrderRecord } from '../model/ledger.ts'
import type { Renewal } from '../model/renewal.ts'
import type { JournalEntry, Run, RunState } from '../model/run.ts'

/** One-time right to run one plan once. Only the hash of its value is ever stored. */
export interface CapabilityRecord {
  readonly hash: string
  readonly planId: string
  readonly digest: string
  readonly action: CapabilityAction
  readonly ip: string
  readonly issuedAt: number
  readonly expiresAt: number
}

/** What a caller presents: every member but the times must match what was issued. */
export type PresentedCapability = Pick<CapabilityRecord, 'hash' | 'planId' | 'digest' | 'action' | 'ip'>

/** `mismatched` and `unknown` spend nothing. */
export type SpendOutcome = 'spent' | 'unknown' | 'mismatched' | 'used' | 'expired'

/** An expiring exclusive right. `fence` grows with every taking of the same name and never repeats. */
export interface Lease {
  readonly name: string
  readonly holder: string
  readonly fence: number
  readonly expiresAt: number
}

/** A live exposure: at most one per host, whatever the plans say. */
export interface Exposure {
  readonly host: string
  readonly planId: string
  readonly state: PlanState
  readonly fence: number
  readonly since: number
  /** What the apply created, and so what its removal removes. JSON. */
  readonly receipt?: unknown
  /** When the exposure removes itself. */
  readonly expiresAt?: number | undefined
}

/** An event on its way to a webhook, tried so often. */
export interface Delivery {
  readonly event: StoredEvent
  readonly tries: number
}

/** An event that a webhook was not given in all its tries. */
interface DeadLetter extends Delivery {
  /** Why the last try failed. */
  readonly fault: string
}

interface FailedTry {
  readonly at: number
  readonly tries: number
  readonly dueAt: number
  readonly fault: string
  /** Given up: it stays as a dead letter until somebody revives it or it is too old to be kept. */
  readonly dead: boolean
}

export interface WebhookState {
  readonly delivered: number
  readonly pending: number
  readonly dead: number
  /** Something that is pending was tried before, in vain. */
  readonly failing: boolean
  readonly lastDeliveredAt: number | undefined
  readonly lastFailedAt: number | undefined
  readonly lastFault: string | undefined
}

/** How far a run has come: another one is newer, or its state or the number of its journal's entries has changed. */
export type RunMark = Pick<Run, 'runId' | 'planId' | 'state'> & { readonly entries: number }

/** Where a list of plans goes on: the last one seen. */
export type PlanPlace = Pick<Plan, 'createdAt' | 'planId'>

/** The database did not answer, or could not write. What was asked for may or may not have been done; `cause` is for the log. */
export class StoreUnavailable extends Error {
  constructor(cause: unknown) {
    super('the store does not answer', { cause })
  }
}

/** Somebody who lost the lease still acts for a run that was adopted since. Nothing was written; stop. */
export class StaleFence extends Error {
  constructor(runId: string, shown: number, present: number) {
    super(`run ${runId} goes on under fence ${present}: nothing happens under ${shown} any more`)
  }
}

/** Everything that can be done alone or inside a transaction. Times are milliseconds since 1970 and always passed in. */
export interface StoreSession {
  insertPlan(plan: Plan): Promise<void>
  findPlan(planId: string): Promise<Plan | undefined>
  /** Newest first, at most `limit`, those after `before` only. */
  listPlans(page: { before?: PlanPlace | undefined; limit: number }): Promise<Plan[]>
  /** Moves a plan on only if it is still in one of `from`. False when it is not. */
  movePlan(planId: string, from: readonly PlanState[], to: PlanState): Promise<boolean>

  insertCapability(capability: CapabilityRecord): Promise<void>
  /** One conditional statement decides: of any number of concurrent calls at most one gets `spent`. */
  spendCapability(presented: PresentedCapability, now: number): Promise<SpendOutcome>

  findExposure(host: string): Promise<Exposure | undefined>
  /**
   * False when another plan holds the host already, or its own plan does under a higher fence. Its own plan may claim it
   * again, and what it then leaves out of receipt and end stays as it was.
   */
  insertExposure(exposure: Exposure): Promise<boolean>
  /** Changes nothing (false) when the exposure belongs to another plan or was written under a higher fence. */
  moveExposure(host: string, planId: string, fence: number, to: PlanState, since: number): Promise<boolean>
  deleteExposure(host: string, planId: string, fence: number): Promise<boolean>
  /** By host, at most `limit`, those after a host only. All of them: `eachExposure`. */
  listExposures(page: { readonly after: string; readonly limit: number }): Promise<Exposure[]>
  /** The applied ones whose life is over at `now`, longest over first. */
  exposuresDue(now: number): Promise<Exposure[]>
  /** False when the plan no longer holds the host. */
  setExposureExpiry(host: string, planId: string, expiresAt: number | undefined): Promise<boolean>
  /** One conditional statement decides: false when the plan is not applied, has no end, or ends later already. Never shortens. */
  prolongExposure(host: string, planId: string, expiresAt: number): Promise<boolean>
  /** False like `moveExposure`. */
  setExposureReceipt(host: string, planId: string, receipt: unknown, fence: number): Promise<boolean>

  /** Rejects while another run of the same host is unfinished. */
  insertRun(run: Run): Promise<void>
  findRun(runId: string): Promise<Run | undefined>
  /** Oldest first. */
  runsOf(planId: string): Promise<Run[]>
  /** How far the newest run of each of these plans has come. One statement, however many they are. */
  newestRuns(planIds: readonly string[]): Promise<RunMark[]>
  /** Oldest first. */
  unfinishedRuns(): Promise<Run[]>
  /** Every run of a plan that is being applied or removed, or is blocked: what they kept may still be put back. */
  unsettledRunIds(): Promise<string[]>
  /** Another instance takes over what its holder left behind. False when it is not running any more, or not under a lower fence. */
  adoptRun(runId: string, holder: string, fence: number): Promise<boolean>
  /** False when it was finished before. Rejects with StaleFence under a fence older than the run's. */
  finishRun(runId: string, state: Exclude<RunState, 'running'>, at: number, fence: number): Promise<boolean>
  /** Durable when it resolves; gives the entry its place. Rejects with StaleFence under a fence older than the run's. */
  appendJournal(entry: Omit<JournalEntry, 'seq'>, fence: number): Promise<JournalEntry>
  /** Entries with `seq` > `afterSeq`, in order. */
  readJournal(runId: string, afterSeq: number): Promise<JournalEntry[]>

  findOrder(names: string, directory: string): Promise<OrderRecord | undefined>
  /** Replaces an earlier one for the same names and directory. */
  putOrder(order: OrderRecord): Promise<void>
  deleteOrder(names: string, directory: string): Promise<void>

  /** Writes what is known of hosts, replacing what was. `version` must be greater than any before. */
  putHosts(statuses: readonly HostStatus[], version: number): Promise<void>
  deleteHosts(hosts: readonly string[]): Promise<void>
  /** Hosts written under a greater version, oldest writing first. */
  readHosts(afterVersion: number): Promise<HostStatus[]>
  /** How many hosts there are and the greatest version of any: cheap to ask, and tells whether to read. */
  hostsMark(): Promise<{ count: number; version: number }>

  /** Inside a transaction: until it ends nobody else adds a line for this directory. Read after it, decide, then add. */
  holdLedger(directory: string): Promise<void>
  appendLedger(line: LedgerLine): Promise<void>
  /** In the order in which they were added; only those of one exact set where `names` is given. */
  readLedger(page: { directory: string; since: number; names?: string | undefined }): Promise<LedgerLine[]>
  /** Prolongs; never shortens what was said before. */
  pauseAuthority(directory: string, until: AuthorityPause): Promise<void>
  /** Zeros for one that nothing was ever said of. */
  authorityPause(directory: string): Promise<AuthorityPause>

  findRenewal(fingerprint: string): Promise<Renewal | undefined>
  /** By name. */
  listRenewals(): Promise<Renewal[]>
  /** Replaces an earlier one for the same certificate. */
  putRenewal(renewal: Renewal): Promise<void>
  deleteRenewal(fingerprint: string): Promise<void>

  /** The lease, or undefined while somebody else's has not run out. Its own holder may take it again: a new fence. */
  takeLease(name: string, holder: string, now: number, lifeMs: number): Promise<Lease | undefined>
  findLease(name: string, now: number): Promise<Lease | undefined>
  /**
   * Prolongs leases, one statement for any 500 of them. Gives the names of those that are still held; the others were lost:
   * run out and taken by somebody else, or released.
   */
  renewLeases(leases: readonly Lease[], now: number, lifeMs: number): Promise<ReadonlySet<string>>
  releaseLease(lease: Lease): Promise<void>

  /**
   * Appends one line to the chain. Concurrent appenders, here or in another instance, are put in one order: inside a
   * transaction everybody else waits for its end, so append last.
   */
  appendAudit(entry: AuditEntry): Promise<AuditLine>
  /** Lines with `seq` > `afterSeq`, oldest first, at most `limit`. */
  readAudit(afterSeq: number, limit: number): Promise<AuditLine[]>
  /** The newest line's place and hash as the store remembers it apart from the lines; undefined before the first. */
  auditHead(): Promise<{ seq: number; hash: string } | undefined>

  /**
   * Appends one event; in the transaction of what it tells of it is as durable as that. Appenders are put in one order,
   * together with those of audit lines: inside a transaction everybody else waits for its end, so append last.
   */
  appendEvent(event: NewEvent): Promise<StoredEvent>
  /** Events with `seq` > `afterSeq`, oldest first, at most `limit`. An event never becomes visible after a later one. */
  readEvents(afterSeq: number, limit: number): Promise<StoredEvent[]>
  /** The place of the newest event, 0 before the first. It never goes back, whatever is pruned. */
  eventHead(): Promise<number>

  /** Up to where events were put into this webhook's outbox. One that is new begins with the next event. */
  openWebhook(name: string): Promise<number>
  /** Puts events into a webhook's outbox and notes how far it was looked. False, and nothing done, when somebody else was there first. */
  queueDeliveries(
    hook: string,
    events: readonly StoredEvent[],
    looked: { readonly from: number; readonly through: number },
    dueAt: number,
  ): Promise<boolean>
  /** What may be sent now, oldest first: of each host only the earliest that is pending, so that a host's events keep their order. */
  dueDeliveries(hook: string, now: number, limit: number): Promise<Delivery[]>
  /** It arrived. */
  settleDelivery(hook: string, seq: number, at: number): Promise<void>
  postponeDelivery(hook: string, seq: number, failure: FailedTry): Promise<void>
  /** Newest first. */
  deadLetters(hook: string, limit: number): Promise<DeadLetter[]>
  /** Lets everything that waits or was given up be tried again now, from the first try on. How much that is. */
  reviveDeliveries(hook: string, now: number): Promise<number>
  webhookState(hook: string): Promise<WebhookState>
}

export interface Store extends StoreSession {
  /** All of `work` or nothing of it. Not nested: `work` uses its session only, never the store. */
  transaction<T>(work: (session: StoreSession) => Promise<T>): Promise<T>
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
