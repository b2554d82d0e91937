import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { Kysely } from 'kysely'
import { clauseOf } from '../primitives/clause.ts'
import { type Clock, systemClock } from '../primitives/clock.ts'
import { retry } from '../primitives/retry.ts'
import { CommitNotices } from './change-feed.ts'
import { type CopyOptions, copyStore } from './copy.ts'
import { type Engine, UnusableStore } from './dialects/engine.ts'
import { foreignOwner } from './dialects/file-owner.ts'
import { sqliteEngine } from './dialects/sqlite.ts'
import { GroupCommit } from './group-commit.ts'
import { assertNewest, assertRestorable, migrate, NEWEST_SCHEMA, versionOf } from './migrations.ts'

export { NEWEST_SCHEMA, OLDEST_SCHEMA } from './migrations.ts'

import type { CopyReport, SnapshotContent, StoreSnapshot } from './ports/copy.ts'
import type { ChangeFeed } from './ports/events.ts'
import { type Store, StoreUnavailable } from './ports/store.ts'
import { prune } from './queries/prune.ts'
import type { Schema } from './schema.ts'
import { sessionMaker, sessionOn } from './session.ts'
import { assertUnusedIn, readSnapshot, writeSnapshot } from './snapshot.ts'

export type StoreSetting =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

export interface OpenOptions {
  readonly upgrade?: boolean
  /** Default: that of the machine. */
  readonly clock?: Clock
}

/**
 * Opens the store and upgrades its schema. Without `upgrade` a store with another schema version is refused and not
 * changed. Any number of instances may open the same store, also at the same time.
 */
export async function openStore(setting: StoreSetting, { upgrade = true, clock }: OpenOptions = {}): Promise<Store> {
  const engine = await engineOf(setting, clock)
  if (!upgrade && !engine.exists())
    throw cannotOpen(setting, new UnusableStore('The file does not exist. Start the service once to create it.'))
  const db = new Kysely<Schema>({ dialect: engine.dialect })
  try {
    await (upgrade ? migrate(db, engine) : assertNewest(db))
    return storeOn(db, engine)
  } catch (error) {
    await db.destroy().catch(() => {})
    throw cannotOpen(setting, error)
  }
}

const ADVICE = {
  sqlite: 'Check this file and its folder with drawbridge doctor.',
  postgres: 'Check that the server runs and that the file named by storeFile holds its URL.',
}

/** The message contains no URL, and the error has no cause: both may contain the password. */
function cannotOpen(setting: StoreSetting, error: unknown): Error {
  const summary = `The store cannot be opened (${setting.kind === 'sqlite' ? setting.file : 'PostgreSQL'})`
  if (error instanceof UnusableStore) return new Error(`${summary}. ${error.message}`)
  const owner = setting.kind === 'sqlite' ? foreignOwner(setting.file) : undefined
  if (owner !== undefined) return new Error(`${summary}. ${owner}`)
  return new Error(`${summary}: ${clauseOf(error)}. ${ADVICE[setting.kind]}`)
}

/** An installation with SQLite does not load the PostgreSQL client. */
async function engineOf(setting: StoreSetting, clock = systemClock): Promise<Engine> {
  if (setting.kind === 'sqlite') return sqliteEngine(setting.file, clock)
  const { postgresEngine } = await import('./dialects/postgres.ts')
  return postgresEngine(setting.url, clock)
}

/** The transactions that were in the way take milliseconds. */
const ROLLED_BACK_RETRY = { firstMs: 10, factor: 2, spread: 0.5, tries: 6 }

function storeOn(db: Kysely<Schema>, engine: Engine): Store {
  const scopes = new AsyncLocalStorage<Scope>()
  const sessionIn = sessionMaker(db, engine.clock)
  const group = new GroupCommit(db, engine.clock)
  const notices = new CommitNotices(db, engine.listener?.(randomBytes(8).toString('hex')), engine.clock)
  const execute: GroupCommit['run'] = (work) =>
    engine.groupsCommits ? group.run(work) : db.transaction().execute(work)
  const transaction: Store['transaction'] = async (work) => {
    let isFollowed = false
    const noted = () => {
      isFollowed = true
    }
    const result = await execute(async (running) => {
      const scope: Scope = { isOpen: true }
      try {
        return await scopes.run(scope, () => work(sessionIn(running, noted)))
      } finally {
        scope.isOpen = false
      }
    })
    if (isFollowed) notices.committed()
    return result
  }
  const store: Omit<Store, keyof ChangeFeed> = {
    ...sessionOn(db, engine.clock),
    // These take more than one statement.
    appendJournal: (entry, fence) => transaction((session) => session.appendJournal(entry, fence)),
    appendAudit: (entry) => transaction((session) => session.appendAudit(entry)),
    appendEvent: (event) => transaction((session) => session.appendEvent(event)),
    ...(engine.groupsCommits && leasesInGroups(transaction)),
    transaction,
    prune: (limits) => prune(db, limits),
    ping: async () => {
      await db.selectFrom('schema_versions').select('version').limit(1).execute()
    },
    close: () => notices.close().then(() => db.destroy()),
  }
  const methods = guarded(store, {
    before: () => {
      if (scopes.getStore()?.isOpen)
        throw new Error('The work of a transaction called the store instead of its session.')
    },
    repeat: (method) => retry(method, engine.isRolledBack, { ...ROLLED_BACK_RETRY, clock: engine.clock }),
    map: (error) => (engine.isFailure(error) ? new StoreUnavailable(error, engine.fullFolder?.(error)) : error),
  })
  return { ...methods, watch: (listener) => notices.watch(listener), isWatching: () => notices.isWatching() }
}

/** Runs that begin together renew their leases at the same moment: one commit serves all of them. */
const leasesInGroups = (
  transaction: Store['transaction'],
): Pick<Store, 'takeLease' | 'takeLeases' | 'renewLeases' | 'releaseLease' | 'releaseLeases'> => ({
  takeLease: (...lease) => transaction((session) => session.takeLease(...lease)),
  takeLeases: (...leases) => transaction((session) => session.takeLeases(...leases)),
  renewLeases: (...leases) => transaction((session) => session.renewLeases(...leases)),
  releaseLeases: (leases) => transaction((session) => session.releaseLeases(leases)),
  releaseLease: (lease) => transaction((session) => session.releaseLease(lease)),
})

/** What the work of one transaction, and all that it calls, runs in. */
interface Scope {
  isOpen: boolean
}

interface Guard {
  /** Throws to refuse a call. */
  readonly before: () => void
  /** Calls a method until it need not be repeated. */
  readonly repeat: (method: () => Promise<unknown>) => Promise<unknown>
  readonly map: (error: unknown) => unknown
}

/** The same methods, which refuse what `before` refuses, are repeated by `repeat` and reject with the mapped error. */
function guarded<Methods extends object>(store: Methods, { before, repeat, map }: Guard): Methods {
  type Method = (...args: unknown[]) => Promise<unknown>
  const guard =
    (method: Method): Method =>
    async (...args) => {
      before()
      try {
        return await repeat(() => method(...args))
      } catch (error) {
        throw map(error)
      }
    }
  const methods = Object.entries(store as unknown as Record<string, Method>)
  return Object.fromEntries(methods.map(([name, method]) => [name, guard(method)])) as unknown as Methods
}

/** Copies a store to an empty one. Rejects with a sentence for people, which tells whether the target is still empty. */
export async function copyBetween(from: StoreSetting, to: StoreSetting, options: CopyOptions): Promise<CopyReport> {
  const [source, target] = await Promise.all([engineOf(from), engineOf(to)])
  return copyStore(source, target, options).catch(async (error: unknown) => {
    if (error instanceof UnusableStore) throw new Error(error.message)
    throw new Error(
      `The store was not copied: ${clauseOf(error)}. ${await remainsIn(target, 'The target', NEWEST_SCHEMA)}`,
    )
  })
}

/** Reads one state of a store while services write to it. Rejects with a sentence for people, or with what `work` rejects with. */
export async function snapshotOf<T>(setting: StoreSetting, work: (snapshot: StoreSnapshot) => Promise<T>): Promise<T> {
  return readSnapshot(await engineOf(setting), work).catch((error: unknown) => {
    throw error instanceof UnusableStore ? cannotOpen(setting, error) : error
  })
}

/** Rejects with a sentence for people if no backup of this schema version can be restored into the store. Creates nothing. */
export async function assertCanRestore(setting: StoreSetting, schema: number): Promise<void> {
  try {
    assertRestorable(schema)
    await assertUnusedIn(await engineOf(setting), schema)
  } catch (error) {
    throw error instanceof UnusableStore ? new Error(error.message) : cannotOpen(setting, error)
  }
}

/** Writes a snapshot that `assertCanRestore` accepts into an empty store. Rejects with a sentence for people, which tells whether it is still empty. */
export async function restoreInto(
  setting: StoreSetting,
  content: SnapshotContent,
  options: { readonly now: number; readonly edgeEpoch: number },
): Promise<CopyReport> {
  const engine = await engineOf(setting)
  return writeSnapshot(engine, content, options).catch(async (error: unknown) => {
    if (error instanceof UnusableStore) throw new Error(error.message)
    throw new Error(`The store was not restored: ${clauseOf(error)}. ${await remainsIn(engine, 'It', content.schema)}`)
  })
}

/**
 * Begins a higher epoch than `epoch`, unless the store has one. No service may run on the store. `storeId`: the id of the store whose
 * place it takes.
 */
export async function raiseEpoch(setting: StoreSetting, epoch: number, storeId?: string): Promise<number> {
  const db = new Kysely<Schema>({ dialect: (await engineOf(setting)).dialect })
  try {
    await db
      .updateTable('store_identity')
      .set({ epoch: epoch + 1 })
      .where('epoch', '<=', epoch)
      .execute()
    if (storeId !== undefined) await db.updateTable('store_identity').set({ store_id: storeId }).execute()
    return (await db.selectFrom('store_identity').select('epoch').executeTakeFirstOrThrow()).epoch
  } finally {
    await db.destroy().catch(() => undefined)
  }
}

/** What a failure has left, as a sentence. A disk or a connection that fails while it commits does not tell whether it has. */
const remainsIn = (engine: Engine, store: string, schema: number): Promise<string> =>
  assertUnusedIn(engine, schema).then(
    () => `${store} is still empty.`,
    () =>
      `${store} may have been written all the same. Move it away or name a new database, then run the command again.`,
  )

/** The schema version of a store, 0 for an empty store. Changes nothing. Rejects when the store cannot be reached. */
export async function schemaVersion(setting: StoreSetting): Promise<number> {
  const engine = await engineOf(setting)
  if (!engine.exists()) return 0
  const db = new Kysely<Schema>({ dialect: engine.dialect })
  return versionOf(db).finally(() => db.destroy().catch(() => {}))
}
