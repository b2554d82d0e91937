import { Kysely, type Transaction } from 'kysely'
import { type Engine, UnusableStore } from './dialects/engine.ts'
import { assertNewest, migrate, versionOf } from './migrations.ts'
import type { CopiedTable, CopyProgress, CopyReport } from './ports/copy.ts'
import type { Schema } from './schema.ts'
import { assertEmpty, assertIdle, COPIED, countIn, sumOf } from './tables.ts'

export interface CopyOptions {
  readonly now: number
  /** The highest epoch that an edge has recorded. The copy begins a higher one. */
  readonly edgeEpoch: number
  /** Called after every page of rows. */
  readonly onProgress: (progress: CopyProgress) => void
}

/**
 * Copies a store to an empty one, in one transaction on each side: the source is locked against changes, and the target gets
 * everything or nothing. What was written is read again and compared by count and hash before it is committed. The copy has the
 * id of its source and begins a new epoch, so that edges refuse what the source still sends.
 */
export async function copyStore(from: Engine, to: Engine, options: CopyOptions): Promise<CopyReport> {
  const source = new Kysely<Schema>({ dialect: from.dialect })
  const target = new Kysely<Schema>({ dialect: to.dialect })
  try {
    if (!from.exists()) throw new UnusableStore('The source does not exist.')
    await of('source', assertNewest(source))
    await prepareTarget(target, to)
    let report: CopyReport | undefined
    const copied = source.transaction().execute(async (reading) => {
      await from.lockForCopy(reading)
      await assertIdle(reading, 'source', options.now)
      report = await target.transaction().execute(async (writing) => {
        await to.lockForCopy(writing)
        await assertIdle(writing, 'target', options.now)
        await assertEmpty(writing)
        return copyAll(reading, writing, options)
      })
      return report
    })
    // The source was only read: once the target is committed, how the transaction of the source ends says nothing of the copy.
    return await copied.catch((error: unknown) => report ?? Promise.reject(error))
  } finally {
    await Promise.all([source, target].map((db) => db.destroy().catch(() => undefined)))
  }
}

/** Creates the schema where there is none. An older one is not upgraded: it may be the store of another version. */
async function prepareTarget(target: Kysely<Schema>, engine: Engine): Promise<void> {
  if (engine.exists() && (await versionOf(target)) > 0) await of('target', assertNewest(target))
  else await migrate(target, engine)
}

const of = (which: string, checked: Promise<void>): Promise<void> =>
  checked.catch((error: unknown) => {
    throw error instanceof UnusableStore ? new UnusableStore(`The ${which} cannot be used. ${error.message}`) : error
  })

async function copyAll(
  reading: Transaction<Schema>,
  writing: Transaction<Schema>,
  { now, edgeEpoch, onProgress }: CopyOptions,
): Promise<CopyReport> {
  await writing.deleteFrom('audit_head').execute()
  const tables: CopiedTable[] = []
  for (const table of COPIED) {
    const total = await countIn(reading, table)
    const read = await sumOf(reading, table, async (rows, soFar) => {
      await writing
        .insertInto(table)
        .values(rows as never)
        .execute()
      onProgress({ table, rows: soFar, of: total })
    })
    const written = await sumOf(writing, table)
    if (read.rows !== written.rows || read.hash !== written.hash)
      throw new UnusableStore(
        `Table ${table} was not copied faithfully: ${read.rows} rows were read and ${written.rows} were written. ` +
          'The target was left empty.',
      )
    tables.push(written)
  }
  const { epoch, store_id, key_id } = await reading.selectFrom('store_identity').selectAll().executeTakeFirstOrThrow()
  const next = Math.max(now, epoch + 1, edgeEpoch + 1)
  await writing.updateTable('store_identity').set({ epoch: next, store_id, key_id }).execute()
  return { storeId: store_id, epoch: { from: epoch, to: next }, tables }
}
