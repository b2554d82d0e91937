import type { CapabilityAction } from '../../model/capability.ts'

/** The right to run one action of one plan once. The store keeps the hash of the capability, never the capability. */
export interface CapabilityRecord {
  readonly hash: string
  readonly planId: string
  readonly digest: string
  readonly action: CapabilityAction
  readonly ip: string
  readonly issuedAt: number
  readonly expiresAt: number
}

/** What a caller presents. Every member must equal the member of the issued capability. */
export type PresentedCapability = Pick<CapabilityRecord, 'hash' | 'planId' | 'digest' | 'action' | 'ip'>

type SpentCapabilities = Pick<CapabilityRecord, 'planId' | 'action'> & { readonly count: number }

/** Only `spent` changes the store. */
export type SpendOutcome = 'spent' | 'unknown' | 'mismatched' | 'used' | 'expired'

export interface CapabilityStore {
  /** Rejects when the plan does not exist or the hash is stored already. */
  insertCapability(capability: CapabilityRecord): Promise<void>
  /** One conditional statement decides: of any number of concurrent calls at most one resolves with `spent`. */
  spendCapability(presented: PresentedCapability, now: number): Promise<SpendOutcome>
  /** How many were spent for each action of each plan. Plans and actions without one are not listed. */
  spentCapabilities(): Promise<readonly SpentCapabilities[]>
}
