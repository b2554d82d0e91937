import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** The run that changes an exposure. Exposures that were stored before have none: their state says that a run is under way. */
export async function claimedExposures(db: Kysely<Schema>): Promise<void> {
  await db.schema.alterTable('exposures').addColumn('run_id', 'text').execute()
  await db.schema.createIndex('exposures_run').on('exposures').column('run_id').execute()
}
