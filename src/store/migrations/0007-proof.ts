import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** Older plans have no proof, so their entries cannot prove their owner. */
export async function proof(db: Kysely<Schema>): Promise<void> {
  await db.schema.alterTable('plans').addColumn('proof', 'text').execute()
}
