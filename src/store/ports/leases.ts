/** An expiring exclusive right. `fence` grows with every taking of the same name and never repeats. */
export interface Lease {
  readonly name: string
  readonly holder: string
  readonly fence: number
  readonly expiresAt: number
}

/** Leases. The clock of the caller decides when one has run out. */
export interface LeaseStore {
  /** The lease, or undefined while somebody else's has not run out. Its own holder may take it again: a new fence. */
  takeLease(name: string, holder: string, now: number, lifeMs: number): Promise<Lease | undefined>
  findLease(name: string, now: number): Promise<Lease | undefined>
  /**
   * Prolongs leases, one statement for any 500 of them. Gives the names of those that are still held; the others were lost:
   * run out and taken by somebody else, or released.
   */
  renewLeases(leases: readonly Lease[], now: number, lifeMs: number): Promise<ReadonlySet<string>>
  releaseLease(lease: Lease): Promise<void>
}
