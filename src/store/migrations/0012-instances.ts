import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** Several instances on one store: who is alive, what they share, and the id of the store, which copies of it keep. */
export async function instances(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .alterTable('store_identity')
    .addColumn('store_id', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  await db.schema.alterTable('store_identity').addColumn('key_id', 'text').execute()
  await db
    .updateTable('store_identity')
    .set({ store_id: `store_${randomBytes(13).toString('hex')}` })
    .execute()
  await db.schema
    .createTable('instances')
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('process', 'text', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('edges', 'text', (column) => column.notNull())
    .addColumn('keys', 'text', (column) => column.notNull())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('alive_until', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('secrets')
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('written_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('certificates')
    .addColumn('fingerprint', 'text', (column) => column.primaryKey().notNull())
    .addColumn('first_name', 'text', (column) => column.notNull())
    .addColumn('chain', 'text', (column) => column.notNull())
    .addColumn('stored_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('request_counts')
    .addColumn('counted', 'text', (column) => column.primaryKey().notNull())
    .addColumn('window_end', 'bigint', (column) => column.notNull())
    .addColumn('requests', 'bigint', (column) => column.notNull())
    .execute()
}
