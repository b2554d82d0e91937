import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

/**
 * Indexes of what is due or under way: a few rows of thousands, asked for every two seconds. The exposures of a run are read in the order
 * of their hosts.
 */
export async function indexesOfDue(db: Kysely<Schema>): Promise<void> {
  await db.schema.createIndex('exposures_by_end').on('exposures').columns(['expires_at', 'host']).execute()
  await db.schema.dropIndex('exposures_run').execute()
  await db.schema.createIndex('exposures_by_run').on('exposures').columns(['run_id', 'host']).execute()
  await db.schema
    .createIndex('plans_under_way')
    .on('plans')
    .column('state')
    .where(sql.ref('state'), 'in', ['applying', 'removing', 'blocked'])
    .execute()
}
