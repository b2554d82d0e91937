import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** Plans that were stored before have neither: their steps follow from their changes, and their owner mark names the plan. */
export async function orderedSteps(db: Kysely<Schema>): Promise<void> {
  await db.schema.alterTable('plans').addColumn('steps', 'text').execute()
  await db.schema.alterTable('plans').addColumn('exposure_id', 'text').execute()
}
