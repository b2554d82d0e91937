import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../schema.ts'

export async function runs(db: Kysely<Schema>): Promise<void> {
  await extendExposures(db)
  await createRuns(db)
  await createJournal(db)
  await createOrders(db)
}

async function extendExposures(db: Kysely<Schema>): Promise<void> {
  // SQLite adds one column at a time.
  await db.schema.alterTable('exposures').addColumn('receipt', 'text').execute()
  await db.schema.alterTable('exposures').addColumn('expires_at', 'bigint').execute()
}

async function createRuns(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('runs')
    .addColumn('run_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('plan_id', 'text', (column) => column.notNull().references('plans.plan_id'))
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('holder', 'text', (column) => column.notNull())
    .addColumn('fence', 'bigint', (column) => column.notNull())
    .addColumn('actor', 'text', (column) => column.notNull())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('finished_at', 'bigint')
    .addColumn('entries', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('runs_by_plan').on('runs').column('plan_id').execute()
  // The last protection, in case leases fail: two runs of one host can never be live.
  await db.schema
    .createIndex('one_live_run_per_host')
    .unique()
    .on('runs')
    .column('host')
    .where(sql.ref('state'), '=', 'running')
    .execute()
}

async function createJournal(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('journal')
    .addColumn('run_id', 'text', (column) => column.notNull().references('runs.run_id').onDelete('cascade'))
    .addColumn('seq', 'bigint', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('step', 'text', (column) => column.notNull())
    .addColumn('mark', 'text', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('journal_place', ['run_id', 'seq'])
    .execute()
}

async function createOrders(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('orders')
    .addColumn('names', 'text', (column) => column.notNull())
    .addColumn('directory', 'text', (column) => column.notNull())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('key_file', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('orders_place', ['names', 'directory'])
    .execute()
}
