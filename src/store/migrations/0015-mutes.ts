import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** The hosts about whose trouble nobody is told. */
export async function mutes(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('mutes')
    .addColumn('host', 'text', (column) => column.primaryKey().notNull())
    .addColumn('since', 'bigint', (column) => column.notNull())
    .addColumn('until', 'bigint')
    .addColumn('muted_by', 'text', (column) => column.notNull())
    .addColumn('note', 'text')
    .execute()
}
