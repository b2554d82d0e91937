import type { Kysely } from 'kysely'
import type { Schema } from '../../schema.ts'

export async function events(db: Kysely<Schema>): Promise<void> {
  await countEvents(db)
  await createEvents(db)
  await createWebhooks(db)
  await createDeliveries(db)
}

/** One row orders both audit lines and events, so that two transactions that write both cannot deadlock. */
async function countEvents(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .alterTable('audit_head')
    .addColumn('events', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
}

async function createEvents(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('events')
    .addColumn('seq', 'bigint', (column) => column.primaryKey().notNull())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('plan_id', 'text')
    .addColumn('facts', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('events_by_time').on('events').column('at').execute()
}

async function createWebhooks(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('webhooks')
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('seq', 'bigint', (column) => column.notNull())
    .addColumn('delivered', 'bigint', (column) => column.notNull())
    .addColumn('last_delivered_at', 'bigint')
    .addColumn('last_failed_at', 'bigint')
    .addColumn('last_fault', 'text')
    .execute()
}

async function createDeliveries(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('deliveries')
    .addColumn('hook', 'text', (column) => column.notNull().references('webhooks.name').onDelete('cascade'))
    .addColumn('seq', 'bigint', (column) => column.notNull().references('events.seq').onDelete('cascade'))
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('tries', 'bigint', (column) => column.notNull())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('fault', 'text')
    .addPrimaryKeyConstraint('deliveries_place', ['hook', 'seq'])
    .execute()
  await db.schema.createIndex('deliveries_by_event').on('deliveries').column('seq').execute()
  await db.schema
    .createIndex('deliveries_in_order')
    .on('deliveries')
    .columns(['hook', 'state', 'host', 'seq'])
    .execute()
}
