import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** When the last backup of the store was written. Null: never, or before this version. */
export async function lastBackup(db: Kysely<Schema>): Promise<void> {
  await db.schema.alterTable('store_identity').addColumn('last_backup_at', 'bigint').execute()
}
