import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import { UnusableStore } from './dialects/engine.ts'
import type { CopiedTable, Row, RowPage } from './ports/copy.ts'
import type { Schema } from './schema.ts'

export type Table = Exclude<keyof Schema, 'schema_versions' | 'store_identity' | 'instances' | 'request_counts'>

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
  host_history: ['host', 'slot'],
  mutes: ['host'],
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
export const COPIED = Object.keys(TABLES) as Table[]
export const isTable = (name: string): name is Table => (COPIED as readonly string[]).includes(name)

/** Rows per statement. Both engines limit the number of values in one statement. */
const PAGE_SIZE = 500

export async function assertIdle(db: Kysely<Schema>, which: string, now: number): Promise<void> {
  const alive = await db
    .selectFrom('instances')
    .select(['name', 'address'])
    .where('alive_until', '>', now)
    .executeTakeFirst()
  if (alive)
    throw new UnusableStore(
      `A service runs on the ${which} (${alive.name} at ${alive.address}). Stop all services on it, then run the command again.`,
    )
}

/** Refuses a store that has rows. */
export async function assertEmpty(target: Kysely<Schema>, tables: readonly Table[] = COPIED): Promise<void> {
  for (const table of tables) {
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

export async function countIn(db: Kysely<Schema>, table: Table): Promise<number> {
  const { rows } = await db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow()
  return Number(rows)
}

/** Reads a table in pages by its primary key, at least one. `done` gets the count and hash of all rows after the last page. */
export async function* pagesOf(
  db: Kysely<Schema>,
  table: Table,
  done: (table: CopiedTable) => void,
): AsyncGenerator<RowPage> {
  const sum = new RowSum()
  for (let last: Row | undefined; ; ) {
    const rows = await readPage(db, table, last)
    for (const row of rows) sum.add(row)
    yield { table, rows }
    last = rows.at(-1)
    if (rows.length < PAGE_SIZE) break
  }
  done({ table, rows: sum.rows, hash: sum.hash })
}

/** Counts and hashes the rows of a table, with `work` after each page. */
export async function sumOf(
  db: Kysely<Schema>,
  table: Table,
  work: (rows: readonly Row[], soFar: number) => Promise<void> = async () => undefined,
): Promise<CopiedTable> {
  let sum: CopiedTable = { table, rows: 0, hash: '' }
  let soFar = 0
  const pages = pagesOf(db, table, (done) => {
    sum = done
  })
  for await (const { rows } of pages) {
    soFar += rows.length
    if (rows.length > 0) await work(rows, soFar)
  }
  return sum
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
