import type { Dialect, Kysely } from 'kysely'
import type { Clock } from '../../primitives/clock.ts'
import type { Schema } from '../schema.ts'

/** Everything that differs between database engines. */
export interface Engine {
  readonly dialect: Dialect
  readonly clock: Clock
  /** False when opening a connection would create the database. */
  exists(): boolean
  /** Locks the schema until the transaction ends. Waits while another instance holds the lock. */
  lockSchema(transaction: Kysely<Schema>): Promise<void>
  /** Keeps all others from writing until the transaction ends, and lets it read one state. Its first statement. */
  lockForCopy(transaction: Kysely<Schema>): Promise<void>
  /** Notifications between instances. Undefined where there is only one instance. */
  listener?(self: string): Listener
  /** True where concurrent transactions are faster in one group than each on its own. */
  readonly groupsCommits: boolean
  /** True when the database has rolled back a transaction that may succeed when it is tried again, for example after a deadlock. */
  isRolledBack(error: unknown): boolean
  /** True when the database failed. False when the statement was at fault, for example by a broken constraint. */
  isFailure(error: unknown): boolean
  /** The folder of the store, when it failed because its disk is full. Undefined where the disk is that of a server. */
  fullFolder?(error: unknown): string | undefined
}

/** Receives what other connections to the same database send. */
export interface Listener {
  /** What to send, and to which channel. */
  readonly notice: { readonly channel: string; readonly payload: string }
  /** Begins to call `onNotice` for notices of others. Only the first call counts. */
  listen(onNotice: () => void): void
  isListening(): boolean
  close(): Promise<void>
}

/** Why a store that can be reached must not be used. The message is whole sentences about the store. */
export class UnusableStore extends Error {}
