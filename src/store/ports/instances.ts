/** A service on this store. */
export interface Instance {
  /** Belongs to its state folder. */
  readonly name: string
  /** Belongs to its process. */
  readonly process: string
  /** Where it listens. */
  readonly address: string
  readonly version: string
  /** The servers whose edges it can change. */
  readonly edges: readonly string[]
  /** The ids of the keys with which it can open secrets. */
  readonly keys: readonly string[]
  readonly startedAt: number
}

/** Which services are alive. Times come from the caller. */
export interface InstanceStore {
  /**
   * Announces that the instance is alive until `now + ttlMs`. False, and nothing is changed, while another process is alive
   * under the same name; `former` is a process that is known to be dead. Repeatable: an instance calls it again and again. Of
   * concurrent calls of several processes at most one is true.
   */
  announceInstance(instance: Instance, now: number, ttlMs: number, former?: string): Promise<boolean>
  /** Ends the announcement of a process. Repeatable. */
  withdrawInstance(name: string, process: string): Promise<void>
  /** All instances that are alive, ordered by name. */
  liveInstances(now: number): Promise<Instance[]>
}
