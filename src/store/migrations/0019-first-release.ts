import { randomBytes } from 'node:crypto'
import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely'
import type { Clock } from '../../primitives/clock.ts'
import type { Schema } from '../schema.ts'

/** The tables of the first release. */
export async function firstRelease(db: Kysely<Schema>, clock: Clock): Promise<void> {
  await createPlans(db)
  await createExposures(db)
  await createRuns(db)
  await createOrders(db)
  await createHosts(db)
  await createAudit(db)
  await createEvents(db)
  await createIdentity(db, clock)
  await createInstances(db)
  await createSecrets(db)
}

type Column = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder
const key: Column = (column) => column.primaryKey().notNull()
const required: Column = (column) => column.notNull()

async function createPlans(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('plans')
    .addColumn('plan_id', 'text', key)
    .addColumn('host', 'text', required)
    .addColumn('state', 'text', required)
    .addColumn('digest', 'text', required)
    .addColumn('created_at', 'bigint', required)
    .addColumn('expires_at', 'bigint', required)
    .addColumn('created_by', 'text', required)
    .addColumn('url', 'text', required)
    .addColumn('request', 'text', required)
    .addColumn('checks', 'text', required)
    .addColumn('changes', 'text', required)
    .addColumn('proof', 'text')
    .addColumn('steps', 'text')
    .addColumn('exposure_id', 'text')
    .addColumn('network', 'text')
    .execute()
  await db.schema.createIndex('plans_by_host').on('plans').column('host').execute()
  await db.schema.createIndex('plans_by_creation').on('plans').column('created_at').execute()
  await db.schema
    .createTable('capabilities')
    .addColumn('hash', 'text', key)
    .addColumn('plan_id', 'text', (column) => column.notNull().references('plans.plan_id').onDelete('cascade'))
    .addColumn('digest', 'text', required)
    .addColumn('action', 'text', required)
    .addColumn('ip', 'text', required)
    .addColumn('issued_at', 'bigint', required)
    .addColumn('expires_at', 'bigint', required)
    .addColumn('used_at', 'bigint')
    .execute()
  await db.schema.createIndex('capabilities_by_plan').on('capabilities').column('plan_id').execute()
}

async function createExposures(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('exposures')
    .addColumn('host', 'text', key)
    .addColumn('plan_id', 'text', (column) => column.notNull().references('plans.plan_id'))
    .addColumn('state', 'text', required)
    .addColumn('fence', 'bigint', required)
    .addColumn('since', 'bigint', required)
    .addColumn('receipt', 'text')
    .addColumn('expires_at', 'bigint')
    .addColumn('run_id', 'text')
    .addColumn('unconfirmed', 'text')
    .execute()
  await db.schema.createIndex('exposures_by_plan').on('exposures').column('plan_id').execute()
  await db.schema.createIndex('exposures_run').on('exposures').column('run_id').execute()
}

async function createRuns(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('runs')
    .addColumn('run_id', 'text', key)
    .addColumn('plan_id', 'text', (column) => column.notNull().references('plans.plan_id'))
    .addColumn('host', 'text', required)
    .addColumn('action', 'text', required)
    .addColumn('state', 'text', required)
    .addColumn('holder', 'text', required)
    .addColumn('fence', 'bigint', required)
    .addColumn('actor', 'text', required)
    .addColumn('started_at', 'bigint', required)
    .addColumn('finished_at', 'bigint')
    .addColumn('entries', 'bigint', required)
    .addColumn('network', 'text')
    .addColumn('proven_by', 'text')
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
  await db.schema
    .createTable('journal')
    .addColumn('run_id', 'text', (column) => column.notNull().references('runs.run_id').onDelete('cascade'))
    .addColumn('seq', 'bigint', required)
    .addColumn('at', 'bigint', required)
    .addColumn('step', 'text', required)
    .addColumn('mark', 'text', required)
    .addColumn('content', 'text', required)
    .addPrimaryKeyConstraint('journal_place', ['run_id', 'seq'])
    .execute()
  await db.schema
    .createTable('leases')
    .addColumn('name', 'text', key)
    .addColumn('holder', 'text')
    .addColumn('fence', 'bigint', required)
    .addColumn('expires_at', 'bigint', required)
    .execute()
}

async function createOrders(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('orders')
    .addColumn('names', 'text', required)
    .addColumn('directory', 'text', required)
    .addColumn('url', 'text', required)
    .addColumn('key_file', 'text', required)
    .addColumn('created_at', 'bigint', required)
    .addPrimaryKeyConstraint('orders_place', ['names', 'directory'])
    .execute()
  await db.schema
    .createTable('authorities')
    .addColumn('directory', 'text', key)
    .addColumn('lines', 'bigint', required)
    .addColumn('new_orders_paused_until', 'bigint', required)
    .addColumn('paused_until', 'bigint', required)
    .execute()
  await db.schema
    .createTable('ledger')
    .addColumn('directory', 'text', required)
    .addColumn('seq', 'bigint', required)
    .addColumn('at', 'bigint', required)
    .addColumn('names', 'text', required)
    .addColumn('kind', 'text', required)
    .addColumn('unproven', 'text', required)
    .addPrimaryKeyConstraint('ledger_place', ['directory', 'seq'])
    .execute()
  await db.schema.createIndex('ledger_by_time').on('ledger').columns(['directory', 'at']).execute()
  await db.schema.createIndex('ledger_by_names').on('ledger').columns(['directory', 'names']).execute()
  await db.schema
    .createTable('renewals')
    .addColumn('fingerprint', 'text', key)
    .addColumn('names', 'text', required)
    .addColumn('attempts', 'bigint', required)
    .addColumn('failures', 'bigint', required)
    .addColumn('next_attempt_at', 'bigint')
    .addColumn('reason', 'text')
    .addColumn('advice', 'text')
    .execute()
}

async function createHosts(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('hosts')
    .addColumn('host', 'text', key)
    .addColumn('version', 'bigint', required)
    .addColumn('changed', 'bigint', required)
    .addColumn('badge', 'text', required)
    .addColumn('since', 'bigint')
    .addColumn('status', 'text', required)
    .addColumn('history', 'text', required)
    .execute()
  await db.schema.createIndex('hosts_by_version').on('hosts').column('version').execute()
  await db.schema
    .createTable('host_history')
    .addColumn('host', 'text', required)
    .addColumn('slot', 'text', required)
    .addColumn('checks', 'bigint', required)
    .addColumn('succeeded', 'bigint', required)
    .addColumn('answers', 'bigint', required)
    .addColumn('latency_total', 'bigint', required)
    .addPrimaryKeyConstraint('host_history_key', ['host', 'slot'])
    .execute()
  await db.schema.createIndex('host_history_by_slot').on('host_history').column('slot').execute()
  await db.schema
    .createTable('mutes')
    .addColumn('host', 'text', key)
    .addColumn('since', 'bigint', required)
    .addColumn('until', 'bigint')
    .addColumn('muted_by', 'text', required)
    .addColumn('note', 'text')
    .execute()
}

async function createAudit(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('audit_lines')
    .addColumn('seq', 'bigint', key)
    .addColumn('at', 'bigint', required)
    .addColumn('action', 'text', required)
    .addColumn('entry', 'text', required)
    .addColumn('previous', 'text', required)
    .addColumn('hash', 'text', required)
    .execute()
  // One row orders both audit lines and events, so that two transactions that write both cannot deadlock.
  await db.schema
    .createTable('audit_head')
    .addColumn('id', 'bigint', key)
    .addColumn('seq', 'bigint', required)
    .addColumn('hash', 'text', required)
    .addColumn('events', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
  // The value is not imported, because a released migration must never change.
  await db
    .insertInto('audit_head')
    .values({ id: 1, seq: 0, hash: '0'.repeat(64) })
    .execute()
}

async function createEvents(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('events')
    .addColumn('seq', 'bigint', key)
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('at', 'bigint', required)
    .addColumn('type', 'text', required)
    .addColumn('host', 'text', required)
    .addColumn('plan_id', 'text')
    .addColumn('facts', 'text', required)
    .execute()
  await db.schema.createIndex('events_by_time').on('events').column('at').execute()
  await db.schema.createIndex('events_by_host').on('events').columns(['host', 'seq']).execute()
  await db.schema
    .createTable('webhooks')
    .addColumn('name', 'text', key)
    .addColumn('seq', 'bigint', required)
    .addColumn('delivered', 'bigint', required)
    .addColumn('last_delivered_at', 'bigint')
    .addColumn('last_failed_at', 'bigint')
    .addColumn('last_fault', 'text')
    .execute()
  await db.schema
    .createTable('deliveries')
    .addColumn('hook', 'text', (column) => column.notNull().references('webhooks.name').onDelete('cascade'))
    .addColumn('seq', 'bigint', (column) => column.notNull().references('events.seq').onDelete('cascade'))
    .addColumn('host', 'text', required)
    .addColumn('state', 'text', required)
    .addColumn('tries', 'bigint', required)
    .addColumn('due_at', 'bigint', required)
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

/** The epoch of a store is the time of its creation. Copies keep its id. */
async function createIdentity(db: Kysely<Schema>, { now }: Clock): Promise<void> {
  await db.schema
    .createTable('store_identity')
    .addColumn('id', 'bigint', key)
    .addColumn('epoch', 'bigint', required)
    .addColumn('store_id', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('key_id', 'text')
    .addColumn('last_backup_at', 'bigint')
    .execute()
  const store_id = `store_${randomBytes(13).toString('hex')}`
  await db.insertInto('store_identity').values({ id: 1, epoch: now(), store_id }).execute()
}

async function createInstances(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('instances')
    .addColumn('name', 'text', key)
    .addColumn('process', 'text', required)
    .addColumn('address', 'text', required)
    .addColumn('version', 'text', required)
    .addColumn('edges', 'text', required)
    .addColumn('keys', 'text', required)
    .addColumn('started_at', 'bigint', required)
    .addColumn('alive_until', 'bigint', required)
    .execute()
  await db.schema
    .createTable('request_counts')
    .addColumn('counted', 'text', key)
    .addColumn('window_end', 'bigint', required)
    .addColumn('requests', 'bigint', required)
    .execute()
}

async function createSecrets(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('secrets')
    .addColumn('name', 'text', key)
    .addColumn('key_id', 'text', required)
    .addColumn('sealed', 'text', required)
    .addColumn('written_at', 'bigint', required)
    .execute()
  await db.schema
    .createTable('certificates')
    .addColumn('fingerprint', 'text', key)
    .addColumn('first_name', 'text', required)
    .addColumn('chain', 'text', required)
    .addColumn('stored_at', 'bigint', required)
    .execute()
}
