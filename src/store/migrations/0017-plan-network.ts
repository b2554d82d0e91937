import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** Older plans have no network: who made them is only in the audit. */
export async function planNetwork(db: Kysely<Schema>): Promise<void> {
  await db.schema.alterTable('plans').addColumn('network', 'text').execute()
}
