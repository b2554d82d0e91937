import { createHash } from 'node:crypto'
import { Kysely, type Transaction } from 'kysely'
import { type Engine, UnusableStore } from './dialects/engine.ts'
import { assertNewest, migrate, versionOf } from './migrations.ts'
import type { CopiedTable, CopyProgress, CopyReport } from './ports/copy.ts'
import type { Schema } from './schema.ts'

export interface CopyOptions {
  readonly now: number
  /** The highest epoch that an edge has recorded. The copy begins a higher one. */
  readonly edgeEpoch: number
  /** Called after every page of rows. */
  readonly onProgress: (progress: CopyProgress) => void
}

type Table = Exclude<keyof Schema, 'schema_versions' | 'store_identity' | 'instances' | 'request_counts'>

/**
 * The tables that are copied, with their primary keys. A table comes after those that it refers to. Who is alive and the counts
 * of rate limits belong to the running services, not to the store.
 */
const TABLES: Readonly<Record<Table, readonly string[]>> = {
  plans: ['plan_id'],
  capabilities: ['hash'],
  exposures: ['host'],
  runs: ['run_id'],
  journal: ['run_id', 'seq'],
  orders: ['names', 'directory'],
  hosts: ['host'],
  authorities: ['directory'],
  ledger: ['directory', 'seq'],
  renewals: ['fingerprint'],
  leases: ['name'],
  audit_lines: ['seq'],
  audit_head: ['id'],
  events: ['seq'],
  webhooks: ['name'],
  deliveries: ['hook', 'seq'],
  secrets: ['name'],
  certificates: ['fingerprint'],
}
const COPIED = Object.keys(TABLES) as Table[]

/** Rows per statement. Both engines limit the number of values in one statement. */
const PAGE_SIZE = 500

type Row = Readonly<Record<string, unknown>>

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
    return await source.transaction().execute(async (reading) => {
      await from.lockForCopy(reading)
      await assertIdle(reading, 'source', options.now)
      return target.transaction().execute(async (writing) => {
        await to.lockForCopy(writing)
        await assertIdle(writing, 'target', options.now)
        await assertEmpty(writing)
        return copyAll(reading, writing, options)
      })
    })
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

async function assertIdle(db: Kysely<Schema>, which: string, now: number): Promise<void> {
  const alive = await db
    .selectFrom('instances')
    .select(['name', 'address'])
    .where('alive_until', '>', now)
    .executeTakeFirst()
  if (alive)
    throw new UnusableStore(
      `A service runs on the ${which} (${alive.name} at ${alive.address}). Stop all services of both stores, then copy again.`,
    )
}

async function assertEmpty(target: Kysely<Schema>): Promise<void> {
  for (const table of COPIED) {
    const rows = await countIn(target, table)
    const isNew = table === 'audit_head' && (await isUnused(target))
    if (rows > 0 && !isNew)
      throw new UnusableStore(
        `The target is not empty: its table ${table} has ${rows} ${rows === 1 ? 'row' : 'rows'}. ` +
          'Nothing was changed. Name a new database.',
      )
  }
}

const isUnused = async (target: Kysely<Schema>): Promise<boolean> => {
  const head = await target.selectFrom('audit_head').selectAll().executeTakeFirst()
  return head?.seq === 0 && head.events === 0
}

async function copyAll(
  reading: Transaction<Schema>,
  writing: Transaction<Schema>,
  { now, edgeEpoch, onProgress }: CopyOptions,
): Promise<CopyReport> {
  await writing.deleteFrom('audit_head').execute()
  const tables: CopiedTable[] = []
  for (const table of COPIED) {
    const total = await countIn(reading, table)
    const read = await eachPage(reading, table, async (rows, soFar) => {
      await writing
        .insertInto(table)
        .values(rows as never)
        .execute()
      onProgress({ table, rows: soFar, of: total })
    })
    const written = await eachPage(writing, table, async () => undefined)
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

async function countIn(db: Kysely<Schema>, table: Table): Promise<number> {
  const { rows } = await db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow()
  return Number(rows)
}

/** Reads a table in pages by its primary key, and counts and hashes its rows. */
async function eachPage(
  db: Kysely<Schema>,
  table: Table,
  work: (rows: readonly Row[], soFar: number) => Promise<void>,
): Promise<CopiedTable> {
  const sum = new RowSum()
  let last: Row | undefined
  for (;;) {
    const page = await readPage(db, table, last)
    for (const row of page) sum.add(row)
    if (page.length > 0) await work(page, sum.rows)
    last = page.at(-1)
    if (page.length < PAGE_SIZE) return { table, rows: sum.rows, hash: sum.hash }
  }
}

async function readPage(db: Kysely<Schema>, table: Table, after: Row | undefined): Promise<readonly Row[]> {
  const key = TABLES[table]
  // The columns of a table that is chosen at run time have no static type.
  const rows = (db as unknown as Kysely<Record<string, Row>>).selectFrom(table).selectAll()
  const ordered = key.reduce((query, column) => query.orderBy(column), rows).limit(PAGE_SIZE)
  const rest = after
    ? ordered.where((eb) =>
        key.length === 1
          ? eb(key[0] ?? '', '>', after[key[0] ?? ''])
          : eb(eb.refTuple(key[0] ?? '', key[1] ?? ''), '>', eb.tuple(after[key[0] ?? ''], after[key[1] ?? ''])),
      )
    : ordered
  return rest.execute()
}

const MODULUS = 1n << 256n

/** The sum of the SHA-256 of all rows. Primary keys make every row different, so none can cancel another. */
class RowSum {
  rows = 0
  #sum = 0n

  add(row: Row): void {
    const members = Object.keys(row)
      .sort()
      .map((column) => [column, row[column]])
    const digest = createHash('sha256').update(JSON.stringify(members)).digest('hex')
    this.#sum = (this.#sum + BigInt(`0x${digest}`)) % MODULUS
    this.rows += 1
  }

  get hash(): string {
    return this.#sum.toString(16).padStart(64, '0')
  }
}
