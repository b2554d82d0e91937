import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** The checks of each host by hours and days. */
export async function hostHistory(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('host_history')
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('slot', 'text', (column) => column.notNull())
    .addColumn('checks', 'bigint', (column) => column.notNull())
    .addColumn('succeeded', 'bigint', (column) => column.notNull())
    .addColumn('answers', 'bigint', (column) => column.notNull())
    .addColumn('latency_total', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('host_history_key', ['host', 'slot'])
    .execute()
  await db.schema.createIndex('host_history_by_slot').on('host_history').column('slot').execute()
}
