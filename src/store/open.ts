import { Kysely, type Transaction } from 'kysely'
import type { Engine } from './dialects/engine.ts'
import { sqliteEngine } from './dialects/sqlite.ts'
import { assertNewest, MIGRATIONS, migrate, versionOf } from './migrations.ts'
import { type Store, type StoreSession, StoreUnavailable } from './ports/store.ts'
import { auditLinesIn } from './queries/audit-lines.ts'
import { capabilitiesIn } from './queries/capabilities.ts'
import { eventsIn } from './queries/events.ts'
import { exposuresIn } from './queries/exposures.ts'
import { hostsIn } from './queries/hosts.ts'
import { leasesIn } from './queries/leases.ts'
import { ledgerIn, ordersIn } from './queries/orders.ts'
import { outboxIn } from './queries/outbox.ts'
import { plansIn } from './queries/plans.ts'
import { prune } from './queries/prune.ts'
import { renewalsIn } from './queries/renewals.ts'
import { journalIn, runsIn } from './queries/runs.ts'
import type { Schema } from './schema.ts'

export type StoreSetting =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

/**
 * The store, its schema brought up to date; without `upgrade` a store of another version is refused and left as it is. Any
 * number of instances may open the same one, even at the same time.
 */
export async function openStore(setting: StoreSetting, { upgrade = true } = {}): Promise<Store> {
  const engine = await engineOf(setting)
  if (!upgrade && !engine.isMade())
    throw cannotOpen(setting, new Error('it is not there yet. Start the service once: it makes the store.'))
  const db = new Kysely<Schema>({ dialect: engine.dialect })
  try {
    await (upgrade ? migrate(db, engine) : assertNewest(db))
    return storeOn(db, engine)
  } catch (error) {
    await db.destroy().catch(() => {})
    throw cannotOpen(setting, error)
  }
}

/** Names neither the URL nor the error as its cause: both may hold the password. */
function cannotOpen(setting: StoreSetting, error: unknown): Error {
  const where = setting.kind === 'sqlite' ? setting.file : 'PostgreSQL'
  return new Error(`cannot open the store (${where}): ${error instanceof Error ? error.message : error}`)
}

/** Who keeps his store in a file need not load PostgreSQL's client. */
async function engineOf(setting: StoreSetting): Promise<Engine> {
  if (setting.kind === 'sqlite') return sqliteEngine(setting.file)
  const { postgresEngine } = await import('./dialects/postgres.ts')
  return postgresEngine(setting.url)
}

function storeOn(db: Kysely<Schema>, engine: Engine): Store {
  const tell = (error: unknown): never => {
    throw engine.isFailure(error) ? new StoreUnavailable(error) : error
  }
  const store: Store = {
    ...sessionOn(db),
    transaction: (work) => db.transaction().execute((transaction) => work(sessionOn(transaction))),
    prune: (limits) => prune(db, limits),
    ping: async () => {
      await db.selectFrom('schema_versions').select('version').limit(1).execute()
    },
    close: () => db.destroy(),
  }
  return telling(store, tell)
}

/** The same methods, whose failures go through `tell`. */
function telling(store: Store, tell: (error: unknown) => never): Store {
  type Method = (...args: unknown[]) => Promise<unknown>
  const methods = Object.entries(store as unknown as Record<string, Method>)
  const told = methods.map(([name, method]) => [name, (...args: unknown[]) => method(...args).catch(tell)])
  return Object.fromEntries(told) as Store
}

const sessionOn = (db: Kysely<Schema> | Transaction<Schema>): StoreSession => ({
  ...plansIn(db),
  ...capabilitiesIn(db),
  ...exposuresIn(db),
  ...runsIn(db),
  ...journalIn(db),
  ...ordersIn(db),
  ...hostsIn(db),
  ...ledgerIn(db),
  ...renewalsIn(db),
  ...leasesIn(db),
  ...auditLinesIn(db),
  ...eventsIn(db),
  ...outboxIn(db),
})

/** The newest schema that this program knows. */
export const NEWEST_SCHEMA = MIGRATIONS.length

/** The version of a store's schema, 0 for one without any. Brings nothing up to date. Rejects when it cannot be reached. */
export async function schemaVersion(setting: StoreSetting): Promise<number> {
  const db = new Kysely<Schema>({ dialect: (await engineOf(setting)).dialect })
  return versionOf(db).finally(() => db.destroy().catch(() => {}))
}
