import type { Kysely } from 'kysely'
import type { Schema } from '../../schema.ts'

export async function first(db: Kysely<Schema>): Promise<void> {
  await createPlans(db)
  await createCapabilities(db)
  await createExposures(db)
  await createLeases(db)
  await createAudit(db)
}

async function createPlans(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('plans')
    .addColumn('plan_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('request', 'text', (column) => column.notNull())
    .addColumn('checks', 'text', (column) => column.notNull())
    .addColumn('changes', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('plans_by_host').on('plans').column('host').execute()
  await db.schema.createIndex('plans_by_creation').on('plans').column('created_at').execute()
}

async function createCapabilities(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('capabilities')
    .addColumn('hash', 'text', (column) => column.primaryKey().notNull())
    .addColumn('plan_id', 'text', (column) => column.notNull().references('plans.plan_id').onDelete('cascade'))
    .addColumn('digest', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('ip', 'text', (column) => column.notNull())
    .addColumn('issued_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('used_at', 'bigint')
    .execute()
  await db.schema.createIndex('capabilities_by_plan').on('capabilities').column('plan_id').execute()
}

async function createExposures(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('exposures')
    .addColumn('host', 'text', (column) => column.primaryKey().notNull())
    .addColumn('plan_id', 'text', (column) => column.notNull().references('plans.plan_id'))
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('fence', 'bigint', (column) => column.notNull())
    .addColumn('since', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('exposures_by_plan').on('exposures').column('plan_id').execute()
}

async function createLeases(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('leases')
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('holder', 'text')
    .addColumn('fence', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute()
}

async function createAudit(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('audit_lines')
    .addColumn('seq', 'bigint', (column) => column.primaryKey().notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('entry', 'text', (column) => column.notNull())
    .addColumn('previous', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('audit_head')
    .addColumn('id', 'bigint', (column) => column.primaryKey().notNull())
    .addColumn('seq', 'bigint', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .execute()
  // The value is not imported, because a released migration must never change.
  await db
    .insertInto('audit_head')
    .values({ id: 1, seq: 0, hash: '0'.repeat(64) })
    .execute()
}
