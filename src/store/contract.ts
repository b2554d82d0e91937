import type { AuditEntry, AuditLine } from '../model/audit.ts'
import type { Plan, PlanState } from '../model/exposure.ts'

/** One-time right to run one plan once. Only the hash of its value is ever stored. */
export interface CapabilityRecord {
  readonly hash: string
  readonly planId: string
  readonly digest: string
  readonly action: 'apply' | 'remove'
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
}

/** The database did not answer, or could not write. What was asked for may or may not have been done; `cause` is for the log. */
export class StoreUnavailable extends Error {
  constructor(cause: unknown) {
    super('the store does not answer', { cause })
  }
}

/** Everything that can be done alone or inside a transaction. Times are milliseconds since 1970 and always passed in. */
export interface StoreSession {
  insertPlan(plan: Plan): Promise<void>
  findPlan(planId: string): Promise<Plan | undefined>
  /** Moves a plan on only if it is still in one of `from`. False when it is not. */
  movePlan(planId: string, from: readonly PlanState[], to: PlanState): Promise<boolean>

  insertCapability(capability: CapabilityRecord): Promise<void>
  /** One conditional statement decides: of any number of concurrent calls at most one gets `spent`. */
  spendCapability(presented: PresentedCapability, now: number): Promise<SpendOutcome>

  findExposure(host: string): Promise<Exposure | undefined>
  /** False when another plan holds the host already, or its own plan does under a higher fence. */
  insertExposure(exposure: Exposure): Promise<boolean>
  /** Changes nothing (false) when the exposure belongs to another plan or was written under a higher fence. */
  moveExposure(host: string, planId: string, fence: number, to: PlanState, since: number): Promise<boolean>
  deleteExposure(host: string, planId: string, fence: number): Promise<boolean>

  /** The lease, or undefined while somebody else's has not run out. Its own holder may take it again: a new fence. */
  takeLease(name: string, holder: string, now: number, lifeMs: number): Promise<Lease | undefined>
  findLease(name: string, now: number): Promise<Lease | undefined>
  /** False when the lease was lost: run out and taken by somebody else, or released. */
  renewLease(lease: Lease, now: number, lifeMs: number): Promise<boolean>
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
}

export interface Store extends StoreSession {
  /** All of `work` or nothing of it. Not nested: `work` uses its session only, never the store. */
  transaction<T>(work: (session: StoreSession) => Promise<T>): Promise<T>
  /**
   * Removes what is older than `plansBefore` and of no more use at `now`: plans that never went live and never will,
   * capabilities spent or expired. Removes audit lines older than `auditBefore` from the beginning of the chain and
   * appends a `prune` line that vouches for what is then its beginning.
   */
  prune(limits: { plansBefore: number; auditBefore: number; now: number }): Promise<void>
  /** Throws when the database does not answer. */
  ping(): Promise<void>
  close(): Promise<void>
}
