/** An exclusive right that expires. `fence` is greater than the fence of every earlier lease of the same name. */
export interface Lease {
  readonly name: string
  readonly holder: string
  readonly fence: number
  readonly expiresAt: number
}

/** Leases. The caller's clock decides whether a lease has expired. Every method may be called concurrently. */
export interface LeaseStore {
  /**
   * Takes the lease when it is free, expired, or held by the same holder, and gives it a new fence. Undefined while
   * another holder's lease has not expired. Of concurrent callers at most one takes a free lease.
   */
  takeLease(name: string, holder: string, now: number, ttlMs: number): Promise<Lease | undefined>
  /**
   * The same for many names. They are taken in one order, with one statement for every 200 of them, so that callers with names
   * in common wait for each other instead of locking each other out. Resolves with the leases that were taken.
   */
  takeLeases(names: readonly string[], holder: string, now: number, ttlMs: number): Promise<readonly Lease[]>
  /** The lease as it is held now. Undefined when it is free or has expired. */
  findLease(name: string, now: number): Promise<Lease | undefined>
  /** The newest fence of each of these names that was ever leased, held or not. */
  lastFences(names: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Makes the next fence of these names higher than this one. Never makes it lower. */
  raiseLastFences(names: readonly string[], fence: number): Promise<void>
  /**
   * Extends leases, with one statement for every 200 of them. Resolves with the names of the leases that were extended.
   * The others are lost: they were released, or they expired and were taken again. Repeatable.
   */
  renewLeases(leases: readonly Lease[], now: number, ttlMs: number): Promise<ReadonlySet<string>>
  /** The same for many leases, with one statement for every 200 of them. */
  releaseLeases(leases: readonly Lease[]): Promise<void>
  /** Frees the lease. Repeatable: a lease that is lost already is no error, and its new holder keeps it. */
  releaseLease(lease: Lease): Promise<void>
}
