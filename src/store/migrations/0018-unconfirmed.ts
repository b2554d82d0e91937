import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** What a restored store says of an exposure and nobody has confirmed yet. */
export async function unconfirmed(db: Kysely<Schema>): Promise<void> {
  await db.schema.alterTable('exposures').addColumn('unconfirmed', 'text').execute()
}
