import type { Dialect, Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** All that the store needs to know of a database engine. */
export interface Engine {
  readonly dialect: Dialect
  /** False where the first connection would make the database. */
  isMade(): boolean
  /** Inside a transaction: waits until no other instance migrates, and keeps the others out until it ends. */
  lockSchema(transaction: Kysely<Schema>): Promise<void>
  /** Whether the database failed, and not what was asked of it. */
  isFailure(error: unknown): boolean
}
