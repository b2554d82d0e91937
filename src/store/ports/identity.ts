/** What tells one store from another. */
export interface StoreIdentity {
  /**
   * The time at which the store was created, or copied from another one, in milliseconds since 1970. It never changes. Fences of
   * leases grow within one store only: with the epoch in front of them, those of a store that was created later are higher.
   */
  epoch(): Promise<number>
  /** A random text that all copies of a store share. */
  storeId(): Promise<string>
}

/** When the store was last backed up. */
export interface BackupLog {
  /** Undefined before the first backup. */
  lastBackupAt(): Promise<number | undefined>
  /** Remembers a backup that is durable. Never moves the time back. Repeatable. */
  noteBackup(at: number): Promise<void>
}
