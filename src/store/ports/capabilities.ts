import type { CapabilityAction } from '../../model/capability.ts'

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

/** One-time rights. Of each only the hash is stored. */
export interface CapabilityStore {
  insertCapability(capability: CapabilityRecord): Promise<void>
  /** One conditional statement decides: of any number of concurrent calls at most one gets `spent`. */
  spendCapability(presented: PresentedCapability, now: number): Promise<SpendOutcome>
}
