import type { Kysely } from 'kysely'
import type { Schema } from '../../schema.ts'

export async function hosts(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('hosts')
    .addColumn('host', 'text', (column) => column.primaryKey().notNull())
    .addColumn('version', 'bigint', (column) => column.notNull())
    .addColumn('changed', 'bigint', (column) => column.notNull())
    .addColumn('badge', 'text', (column) => column.notNull())
    .addColumn('since', 'bigint')
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('history', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('hosts_by_version').on('hosts').column('version').execute()
}
