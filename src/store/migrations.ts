import type { Kysely } from 'kysely'
import type { Clock } from '../primitives/clock.ts'
import { type Engine, UnusableStore } from './dialects/engine.ts'
import { first } from './migrations/0.1/0001-first.ts'
import { runs } from './migrations/0.1/0002-runs.ts'
import { events } from './migrations/0.1/0003-events.ts'
import { ledger } from './migrations/0.1/0004-ledger.ts'
import { renewals } from './migrations/0.1/0005-renewals.ts'
import { hosts } from './migrations/0.1/0006-hosts.ts'
import { proof } from './migrations/0007-proof.ts'
import { runRights } from './migrations/0008-run-rights.ts'
import { orderedSteps } from './migrations/0009-ordered-steps.ts'
import { claimedExposures } from './migrations/0010-claimed-exposures.ts'
import { identity } from './migrations/0011-identity.ts'
import { instances } from './migrations/0012-instances.ts'
import { lastBackup } from './migrations/0013-last-backup.ts'
import { hostHistory } from './migrations/0014-host-history.ts'
import { mutes } from './migrations/0015-mutes.ts'
import { eventsByHost } from './migrations/0016-events-by-host.ts'
import { planNetwork } from './migrations/0017-plan-network.ts'
import { unconfirmed } from './migrations/0018-unconfirmed.ts'
import type { Schema } from './schema.ts'

/**
 * Brings the schema to the next version. A released migration is never edited: append a new one to the list instead.
 */
export type Migration = (db: Kysely<Schema>, clock: Clock) => Promise<void>

/** Version n of the schema is what the first n leave behind. */
export const MIGRATIONS: readonly Migration[] = [
  first,
  runs,
  events,
  ledger,
  renewals,
  hosts,
  proof,
  runRights,
  orderedSteps,
  claimedExposures,
  identity,
  instances,
  lastBackup,
  hostHistory,
  mutes,
  eventsByHost,
  planNetwork,
  unconfirmed,
]

/** Upgrades the schema to the newest version in one transaction. Other instances that start at the same time wait. */
export async function migrate(db: Kysely<Schema>, engine: Engine, migrations = MIGRATIONS): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await engine.lockSchema(transaction)
    const present = await presentVersion(transaction)
    if (present > migrations.length) throw newerSchema(present, migrations.length)
    for (const [index, forward] of migrations.entries()) {
      if (index < present) continue
      await forward(transaction, engine.clock)
      await transaction
        .insertInto('schema_versions')
        .values({ version: index + 1 })
        .execute()
    }
  })
}

/** Rejects when the store has another schema version. Changes nothing. */
export async function assertNewest(db: Kysely<Schema>): Promise<void> {
  const present = await versionOf(db)
  if (present > MIGRATIONS.length) throw newerSchema(present, MIGRATIONS.length)
  if (present === MIGRATIONS.length) return
  throw new UnusableStore(
    `Its schema has version ${present}, and this Drawbridge needs version ${MIGRATIONS.length}. ` +
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

const newerSchema = (present: number, known: number): Error =>
  new UnusableStore(
    `Its schema has version ${present}, and this Drawbridge knows versions up to ${known}. ` +
      'A store cannot be downgraded. Use the newer Drawbridge that wrote it, or go back: move the store away and run ' +
      'drawbridge restore with a backup that was made before the upgrade.',
  )
