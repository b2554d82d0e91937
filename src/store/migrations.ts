import type { Kysely, Transaction } from 'kysely'
import type { Clock } from '../primitives/clock.ts'
import { type Engine, UnusableStore } from './dialects/engine.ts'
import { firstRelease } from './migrations/0019-first-release.ts'
import { indexesOfDue } from './migrations/0020-due.ts'
import { dropUnreleased } from './migrations/unreleased.ts'
import type { Schema } from './schema.ts'

/**
 * Brings the schema to the next version. A released migration is never edited: append a new one to the list instead.
 */
export type Migration = (db: Kysely<Schema>, clock: Clock) => Promise<void>

/** The first one makes the schema of the first release, each further one the next version. */
export const MIGRATIONS: readonly Migration[] = [firstRelease, indexesOfDue]

/** The last version before the first release. It has the same tables. Versions before it were never released and are refused. */
const LAST_UNRELEASED = 18
const FIRST_RELEASED = LAST_UNRELEASED + 1

/** The oldest schema version that this program upgrades. */
export const OLDEST_SCHEMA = LAST_UNRELEASED
/** The newest schema version that this program knows. */
export const NEWEST_SCHEMA = newestOf(MIGRATIONS)

function newestOf(migrations: readonly Migration[]): number {
  return LAST_UNRELEASED + migrations.length
}

/** The version whose tables a store or a backup of this version has. */
export const releasedVersion = (version: number): number => (version === LAST_UNRELEASED ? FIRST_RELEASED : version)

/** The migrations that lead to a version. */
export const migrationsTo = (version: number): readonly Migration[] => MIGRATIONS.slice(0, version - LAST_UNRELEASED)

/** Upgrades the schema to the newest version in one transaction. Other instances that start at the same time wait. */
export async function migrate(db: Kysely<Schema>, engine: Engine, migrations = MIGRATIONS): Promise<void> {
  await db.transaction().execute((transaction) => migrateWithin(transaction, engine, migrations))
}

/** The same as a part of what else is done in the transaction: both engines take a change of the schema back with it. */
export async function migrateWithin(
  transaction: Transaction<Schema>,
  engine: Engine,
  migrations = MIGRATIONS,
): Promise<void> {
  await engine.lockSchema(transaction)
  const found = await presentVersion(transaction)
  if (found > newestOf(migrations)) throw newerSchema(found, newestOf(migrations))
  if (isTooOld(found)) throw olderSchema(found)
  if (found === LAST_UNRELEASED) await renumber(transaction)
  const present = releasedVersion(found)
  for (const [index, forward] of migrations.entries()) {
    const version = FIRST_RELEASED + index
    if (version <= present) continue
    await forward(transaction, engine.clock)
    await transaction.insertInto('schema_versions').values({ version }).execute()
  }
}

/** The Drawbridge of the former number then refuses the store: to it, the store is newer. */
async function renumber(transaction: Kysely<Schema>): Promise<void> {
  await dropUnreleased(transaction)
  await transaction.deleteFrom('schema_versions').execute()
  await transaction.insertInto('schema_versions').values({ version: FIRST_RELEASED }).execute()
}

/** Rejects when the store has another schema version. Changes nothing. */
export async function assertNewest(db: Kysely<Schema>): Promise<void> {
  const present = await versionOf(db)
  if (present > NEWEST_SCHEMA) throw newerSchema(present, NEWEST_SCHEMA)
  if (isTooOld(present)) throw olderSchema(present)
  if (present === NEWEST_SCHEMA) return
  throw new UnusableStore(
    `Its schema has version ${present}, and this Drawbridge needs version ${NEWEST_SCHEMA}. ` +
      'Start the service of this version once to upgrade the store (drawbridge serve), or use the older Drawbridge that wrote it. ' +
      'No other command upgrades a store.',
  )
}

/** The schema version, 0 for an empty store. Changes nothing. */
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

/** 0 is an empty store. */
const isTooOld = (version: number): boolean => version > 0 && version < OLDEST_SCHEMA

const olderSchema = (present: number): Error =>
  new UnusableStore(
    `Its schema has version ${present}, and this Drawbridge upgrades versions from ${OLDEST_SCHEMA} on. Nothing was changed. ` +
      `Start the last Drawbridge before this one once, which upgrades the store to version ${OLDEST_SCHEMA}, then start this one.`,
  )

const newerSchema = (present: number, known: number): Error =>
  new UnusableStore(
    `Its schema has version ${present}, and this Drawbridge knows versions up to ${known}. ` +
      'A store cannot be downgraded. Use the newer Drawbridge that wrote it, or go back: move the store away and run ' +
      'drawbridge restore with a backup that was made before the upgrade.',
  )

/** Throws a sentence for people if no backup of this schema version can be restored. */
export function assertRestorable(schema: number): void {
  if (schema > NEWEST_SCHEMA)
    throw new UnusableStore(
      `The backup has schema version ${schema}, and this Drawbridge knows versions up to ${NEWEST_SCHEMA}. ` +
        'Nothing was changed. Restore it with the version of Drawbridge that made it, or a newer one.',
    )
  if (schema < OLDEST_SCHEMA)
    throw new UnusableStore(
      `The backup has schema version ${schema}, and this Drawbridge restores versions from ${OLDEST_SCHEMA} on. Nothing was changed. ` +
        'Restore it with the version of Drawbridge that made it, or the last one before this one.',
    )
}
