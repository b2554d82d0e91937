import type { Kysely } from 'kysely'
import type { Engine } from './dialects/engine.ts'
import { first } from './migrations/0001-first.ts'
import { runs } from './migrations/0002-runs.ts'
import { events } from './migrations/0003-events.ts'
import { ledger } from './migrations/0004-ledger.ts'
import { renewals } from './migrations/0005-renewals.ts'
import { hosts } from './migrations/0006-hosts.ts'
import { proof } from './migrations/0007-proof.ts'
import { runRights } from './migrations/0008-run-rights.ts'
import type { Schema } from './schema.ts'

/** A step forward. What has been released is never edited: a change is a new one at the end of the list. */
export type Migration = (db: Kysely<Schema>) => Promise<void>

/** Version n of the schema is what the first n leave behind. */
export const MIGRATIONS: readonly Migration[] = [first, runs, events, ledger, renewals, hosts, proof, runRights]

/** Brings the schema up to the newest version, all of the way or not at all. Others that start now wait their turn. */
export async function migrate(db: Kysely<Schema>, engine: Engine, migrations = MIGRATIONS): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await engine.lockSchema(transaction)
    const present = await presentVersion(transaction)
    if (present > migrations.length) throw newerSchema(present, migrations.length)
    for (const [index, forward] of migrations.entries()) {
      if (index < present) continue
      await forward(transaction)
      await transaction
        .insertInto('schema_versions')
        .values({ version: index + 1 })
        .execute()
    }
  })
}

/** Refuses a store of another version. Changes nothing. */
export async function assertNewest(db: Kysely<Schema>): Promise<void> {
  const present = await versionOf(db)
  if (present > MIGRATIONS.length) throw newerSchema(present, MIGRATIONS.length)
  if (present === MIGRATIONS.length) return
  throw new Error(
    `the store has schema version ${present} and this Drawbridge works with ${MIGRATIONS.length}: an older one wrote it. ` +
      'Start the service of this version once to upgrade it, or use the older drawbridge.',
  )
}

/** 0 for a store without any schema. Changes nothing. */
export async function versionOf(db: Kysely<Schema>): Promise<number> {
  const tables = await db.introspection.getTables()
  return tables.some(({ name }) => name === 'schema_versions') ? newestVersion(db) : 0
}

async function newestVersion(db: Kysely<Schema>): Promise<number> {
  const { newest } = await db
    .selectFrom('schema_versions')
    .select((eb) => eb.fn.max('version').as('newest'))
    .executeTakeFirstOrThrow()
  return newest ?? 0
}

async function presentVersion(db: Kysely<Schema>): Promise<number> {
  await db.schema
    .createTable('schema_versions')
    .ifNotExists()
    .addColumn('version', 'bigint', (column) => column.primaryKey().notNull())
    .execute()
  return newestVersion(db)
}

const newerSchema = (present: number, known: number): Error =>
  new Error(
    `the store has schema version ${present} and this Drawbridge knows only ${known}: a newer one wrote it. ` +
      'Use the newer drawbridge, or restore a backup made before the upgrade.',
  )
