import type { Kysely } from 'kysely'
import type { Schema } from '../../schema.ts'

export async function ledger(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('authorities')
    .addColumn('directory', 'text', (column) => column.primaryKey().notNull())
    .addColumn('lines', 'bigint', (column) => column.notNull())
    .addColumn('new_orders_paused_until', 'bigint', (column) => column.notNull())
    .addColumn('paused_until', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('ledger')
    .addColumn('directory', 'text', (column) => column.notNull())
    .addColumn('seq', 'bigint', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('names', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('unproven', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('ledger_place', ['directory', 'seq'])
    .execute()
  await db.schema.createIndex('ledger_by_time').on('ledger').columns(['directory', 'at']).execute()
  await db.schema.createIndex('ledger_by_names').on('ledger').columns(['directory', 'names']).execute()
}
