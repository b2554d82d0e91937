import { Kysely, type Transaction } from 'kysely'
import { LEFT_OPEN } from '../model/run.ts'
import { type Engine, UnusableStore } from './dialects/engine.ts'
import { dropUnreleased } from './migrations/unreleased.ts'
import {
  assertNewest,
  migrate,
  migrateWithin,
  migrationsTo,
  NEWEST_SCHEMA,
  releasedVersion,
  versionOf,
} from './migrations.ts'
import type { CopyReport, RowPage, SnapshotContent, SnapshotHead, StoreSnapshot } from './ports/copy.ts'
import type { Schema } from './schema.ts'
import { assertEmpty, assertIdle, COPIED, isTable, pagesOf, sumOf } from './tables.ts'

/** Reads one state of a store while services write to it. They do not wait for it. */
export async function readSnapshot<T>(engine: Engine, work: (snapshot: StoreSnapshot) => Promise<T>): Promise<T> {
  const db = new Kysely<Schema>({ dialect: engine.dialect })
  try {
    if (!engine.exists()) throw new UnusableStore('The file does not exist. Start the service once to create it.')
    await assertNewest(db)
    const reading = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
    return await reading.execute(async (transaction) =>
      work({
        ...(await headOf(transaction)),
        async *pages(done) {
          for (const table of COPIED) yield* pagesOf(transaction, table, done)
        },
      }),
    )
  } finally {
    await db.destroy().catch(() => undefined)
  }
}

async function headOf(db: Kysely<Schema>): Promise<SnapshotHead> {
  const { store_id, epoch, key_id } = await db.selectFrom('store_identity').selectAll().executeTakeFirstOrThrow()
  return { schema: NEWEST_SCHEMA, storeId: store_id, epoch, keyId: key_id }
}

interface WriteOptions {
  readonly now: number
  /** The highest epoch that an edge has recorded. The restored store begins a higher one. */
  readonly edgeEpoch: number
}

/**
 * Writes a snapshot into an empty store, in one transaction, in a new epoch. What was written is read again and compared with the counts
 * and hashes of the snapshot. A snapshot of an older schema version is written as it is and then upgraded. The rows and the marks that
 * keep a service from enforcing them are committed together: a start on the rows alone would enforce an old backup.
 */
export async function writeSnapshot(
  engine: Engine,
  content: SnapshotContent,
  { now, edgeEpoch }: WriteOptions,
): Promise<CopyReport> {
  const db = new Kysely<Schema>({ dialect: engine.dialect })
  try {
    await prepare(db, engine, releasedVersion(content.schema))
    return await db.transaction().execute(async (writing): Promise<CopyReport> => {
      await engine.lockForCopy(writing)
      await assertIdle(writing, 'store', now)
      await assertEmpty(writing, content.tables.map(({ table }) => table).filter(isTable))
      await writing.deleteFrom('audit_head').execute()
      for await (const page of content.pages) await insert(writing, page)
      await assertFaithful(writing, content)
      if (content.schema !== releasedVersion(content.schema)) await dropUnreleased(writing)
      const epoch = Math.max(now, content.epoch + 1, edgeEpoch + 1)
      const { storeId, keyId } = content
      await writing.updateTable('store_identity').set({ epoch, store_id: storeId, key_id: keyId }).execute()
      await migrateWithin(writing, engine)
      await beginReconcile(writing, now)
      return { storeId, epoch: { from: content.epoch, to: epoch }, tables: content.tables }
    })
  } finally {
    await db.destroy().catch(() => undefined)
  }
}

/** More than anything appends between a backup and its restore: who follows the events has seen at most these numbers. */
const EVENTS_AHEAD = 10_000_000

/**
 * The backup may be older than the world: nothing that it says of a host is enforced before it is confirmed, and no follower skips an
 * event. Who held a lease held it in the former store, so nobody waits for its end here.
 */
async function beginReconcile(writing: Transaction<Schema>, now: number): Promise<void> {
  await blockUnfinished(writing, now)
  await writing.updateTable('leases').set({ holder: null }).execute()
  await writing.updateTable('exposures').set({ unconfirmed: 'edges' }).execute()
  await writing
    .updateTable('audit_head')
    .set((eb) => ({ events: eb('events', '+', EVENTS_AHEAD) }))
    .execute()
}

const NOT_SETTLED =
  'The backup was made while this run was not settled. The former store may have ended it since, so nothing was done about it.'

/**
 * Nobody can tell what became of a run that was under way when the backup was made: its hosts are blocked until a person decides. The
 * same holds for a run that was blocked then. A converge of that time is given up: the next one compares again.
 */
async function blockUnfinished(writing: Kysely<Schema>, now: number): Promise<void> {
  const claimed = writing.selectFrom('exposures').select('run_id').where('run_id', 'is not', null)
  const open = await writing
    .selectFrom('runs')
    .selectAll()
    .where((eb) => eb.or([eb('state', '=', 'running'), eb('run_id', 'in', claimed)]))
    .execute()
  for (const { run_id, plan_id, host, action, entries } of open) {
    const isGivenUp = action === 'converge'
    const state = isGivenUp ? 'rolled_back' : 'blocked'
    await writing.updateTable('runs').set({ state, finished_at: now }).where('run_id', '=', run_id).execute()
    if (isGivenUp) {
      await writing.updateTable('exposures').set({ run_id: null }).where('run_id', '=', run_id).execute()
      continue
    }
    await writing.updateTable('plans').set({ state }).where('plan_id', '=', plan_id).execute()
    await writing
      .updateTable('exposures')
      .set({ state })
      .where('host', '=', host)
      .where('run_id', '=', run_id)
      .execute()
    const last = await writing
      .selectFrom('journal')
      .select('step')
      .where('run_id', '=', run_id)
      .orderBy('seq', 'desc')
      .executeTakeFirst()
    const content = JSON.stringify({ image: LEFT_OPEN, detail: NOT_SETTLED })
    const seq = entries + 1
    const entry = { run_id, seq, at: now, step: last?.step ?? 'run', mark: 'undo_failed', content } as const
    await writing.insertInto('journal').values(entry).execute()
    await writing.updateTable('runs').set({ entries: seq }).where('run_id', '=', run_id).execute()
  }
}

async function prepare(db: Kysely<Schema>, engine: Engine, schema: number): Promise<void> {
  const present = engine.exists() ? await versionOf(db) : 0
  if (present === 0) await migrate(db, engine, migrationsTo(schema))
  else if (present !== schema)
    throw new UnusableStore(
      `The store has schema version ${present}, and the backup has ${schema}. Nothing was changed. ` +
        'Move the store away, or name a new database.',
    )
}

async function insert(writing: Kysely<Schema>, { table, rows }: RowPage): Promise<void> {
  if (!isTable(table)) throw new UnusableStore(`The backup has a table ${JSON.stringify(table)}, which no store has.`)
  if (rows.length > 0)
    await writing
      .insertInto(table)
      .values(rows as never)
      .execute()
}

async function assertFaithful(writing: Kysely<Schema>, { tables }: SnapshotContent): Promise<void> {
  for (const { table, rows, hash } of tables) {
    if (!isTable(table)) continue
    const written = await sumOf(writing, table)
    if (written.rows !== rows || written.hash !== hash)
      throw new UnusableStore(
        `Table ${table} was not restored faithfully: the backup has ${rows} rows and ${written.rows} were written. ` +
          'The store was left empty.',
      )
  }
}

/** Rejects if the store has rows. `schema`: also an empty store of this version is good, as a restore that failed has left it. Creates nothing. */
export async function assertUnusedIn(engine: Engine, schema: number): Promise<void> {
  if (!engine.exists()) return
  const db = new Kysely<Schema>({ dialect: engine.dialect })
  try {
    const present = await versionOf(db)
    if (present === 0) return
    if (present !== releasedVersion(schema)) await assertNewest(db)
    const tables = new Set((await db.introspection.getTables()).map(({ name }) => name))
    await assertEmpty(
      db,
      COPIED.filter((table) => tables.has(table)),
    )
  } finally {
    await db.destroy().catch(() => undefined)
  }
}
