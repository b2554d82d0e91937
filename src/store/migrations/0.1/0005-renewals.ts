import type { Kysely } from 'kysely'
import type { Schema } from '../../schema.ts'

export async function renewals(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('renewals')
    .addColumn('fingerprint', 'text', (column) => column.primaryKey().notNull())
    .addColumn('names', 'text', (column) => column.notNull())
    .addColumn('attempts', 'bigint', (column) => column.notNull())
    .addColumn('failures', 'bigint', (column) => column.notNull())
    .addColumn('next_attempt_at', 'bigint')
    .addColumn('reason', 'text')
    .addColumn('advice', 'text')
    .execute()
}
