import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** Plans of before have none: their entries cannot prove whose they are. */
export async function proof(db: Kysely<Schema>): Promise<void> {
  await db.schema.alterTable('plans').addColumn('proof', 'text').execute()
}
