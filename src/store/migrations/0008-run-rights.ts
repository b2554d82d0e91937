import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** Older runs have neither value. */
export async function runRights(db: Kysely<Schema>): Promise<void> {
  for (const column of ['network', 'proven_by']) {
    await db.schema.alterTable('runs').addColumn(column, 'text').execute()
  }
}
