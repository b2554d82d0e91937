import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, it } from 'vitest'
import { systemClock } from '../../src/primitives/clock.ts'
import type { Engine } from '../../src/store/dialects/engine.ts'
import { postgresEngine } from '../../src/store/dialects/postgres.ts'
import { sqliteEngine } from '../../src/store/dialects/sqlite.ts'
import { openStore, type StoreSetting } from '../../src/store/open.ts'
import type { Store } from '../../src/store/ports/store.ts'
import { borrowPostgres, EMPTY, KILL_OTHERS, type PostgresCluster } from '../support/programs/postgres.ts'

type Rows = Record<string, unknown>[]

/** An empty database, and direct access to it without the store. */
interface TestDatabase {
  readonly setting: StoreSetting
  sql(statement: string): Promise<Rows>
  /** Ends all other connections. */
  cut?(): Promise<void>
  remove(): Promise<void>
}

/** A new database before every test. */
export interface Bench {
  setting(): StoreSetting
  /** An instance. On PostgreSQL it stays open for the next test, unless this one closes or cuts any. */
  open(): Promise<Store>
  /** A test on as many instances as its work has parameters. */
  it(name: string, work: (...stores: Store[]) => Promise<void>): void
  engine(): Engine
  sql(statement: string): Promise<Rows>
  /** Ends all connections of the stores to a server. */
  cut(): Promise<void>
}

interface BenchOptions {
  /** Without tables, for tests of the migrations. Otherwise the migrations have run before the test. */
  readonly empty?: boolean
}

export function onSqlite({ empty = false }: BenchOptions = {}): Bench {
  let template: TestDatabase | undefined
  beforeAll(async () => {
    template = await createSqliteDatabase()
    await (await openStore(template.setting)).close()
  })
  afterAll(() => template?.remove())
  return benchOn(async () => {
    const database = await createSqliteDatabase()
    if (!empty && template) await copyDatabase(template, database)
    return database
  })
}

export function onPostgres({ empty = false }: BenchOptions = {}): Bench {
  let cluster: PostgresCluster | undefined
  let access: pg.Client | undefined
  let fresh: FreshTables | undefined
  const sql = async (statement: string): Promise<Rows> => (await (access ?? fail()).query(statement)).rows
  beforeAll(async () => {
    cluster = await borrowPostgres()
    access = new pg.Client({ connectionString: cluster.url })
    await access.connect()
  })
  afterAll(async () => {
    await access?.end()
    await cluster?.stop()
  })
  const create = async () => {
    if (!cluster) throw new Error('PostgreSQL did not start.')
    const setting: StoreSetting = { kind: 'postgres', url: cluster.url }
    if (!empty && !fresh) {
      await (await openStore(setting)).close()
      fresh = await readFreshTables(sql)
    }
    const remove = async () => {
      if (fresh && (await isReset(sql, fresh))) return
      fresh = undefined
      await sql(EMPTY)
    }
    return { setting, sql, cut: async () => void (await sql(KILL_OTHERS)), remove }
  }
  return benchOn(create, { isKept: !empty })
}

/** The tables of a new store: what they are, and the statements that bring them back. */
interface FreshTables {
  readonly shape: string
  readonly reset: string
}

type Sql = TestDatabase['sql']

const SHAPE = `select
  (select string_agg(relname::text || relkind::text, ',' order by relname) from pg_class where relnamespace = 'public'::regnamespace) ||
  (select count(*) from pg_trigger)::text || ' ' || (select count(*) from pg_attribute where attrelid > 16383)::text as shape`

async function readFreshTables(query: Sql): Promise<FreshTables> {
  const tables = await query("select tablename as name from pg_tables where schemaname = 'public'")
  const names = tables.map(({ name }) => String(name))
  const rows = await Promise.all(
    names.map(async (name) => {
      const [found] = await query(`select coalesce(json_agg(t), '[]')::text as rows from ${name} t`)
      const text = String(found?.rows).replaceAll("'", "''")
      return text === '[]' ? '' : `insert into ${name} select * from json_populate_recordset(null::${name}, '${text}');`
    }),
  )
  const sequences = await query("select sequencename as name from pg_sequences where schemaname = 'public'")
  return {
    shape: shapeIn(await query(SHAPE)),
    reset: [
      'begin; set local session_replication_role = replica;',
      ...names.map((name) => `delete from ${name};`),
      ...sequences.map(({ name }) => `alter sequence ${name} restart;`),
      ...rows,
      'commit',
    ].join('\n'),
  }
}

/** Ends what is under way and makes the tables as new. False: a test changed the tables themselves. */
async function isReset(query: Sql, { shape, reset }: FreshTables): Promise<boolean> {
  await query(`${KILL_OTHERS} and state <> 'idle'`)
  if (shapeIn(await query(SHAPE)) !== shape) return false
  await query(reset)
  return true
}

const shapeIn = ([found]: Rows): string => String(found?.shape)

function benchOn(createDatabase: () => Promise<TestDatabase>, { isKept = false } = {}): Bench {
  let present: TestDatabase | undefined
  const opened = new Set<Store>()
  /** Stores of earlier tests. A new connection to PostgreSQL takes longer than most tests. */
  const kept: Store[] = []
  /** The test has closed or cut a store, so its next one is a new one. */
  let isCut = false
  const database = () => present ?? fail()
  const open = async (): Promise<Store> => {
    const spare = isCut ? undefined : kept.pop()
    const store = spare ?? closable(await openStore(database().setting))
    opened.add(store)
    return store
  }
  const closable = (store: Store): Store => {
    const close = async () => {
      isCut = true
      opened.delete(one)
      await store.close()
    }
    const one = { ...store, close }
    return one
  }
  const closeAll = async () => void (await Promise.all([...opened, ...kept.splice(0)].map((store) => store.close())))
  beforeEach(async () => {
    isCut = false
    present = await createDatabase()
  })
  afterEach(async ({ task }) => {
    if (isKept && !isCut && task.result?.state !== 'fail') kept.push(...opened)
    else await closeAll()
    opened.clear()
    await present?.remove()
    present = undefined
  })
  afterAll(closeAll)
  return {
    setting: () => database().setting,
    sql: (statement) => database().sql(statement),
    async cut() {
      isCut = true
      await database().cut?.()
    },
    engine: () => engineOf(database().setting),
    open,
    it: (name, work) => it(name, async () => work(...(await Promise.all(Array.from({ length: work.length }, open))))),
  }
}

async function copyDatabase(from: TestDatabase, to: TestDatabase): Promise<void> {
  if (from.setting.kind !== 'sqlite' || to.setting.kind !== 'sqlite') return
  await mkdir(dirname(to.setting.file), { recursive: true, mode: 0o700 })
  await copyFile(from.setting.file, to.setting.file)
}

async function createSqliteDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'drawbridge-sqlite-'))
  const file = join(folder, 'store', 'drawbridge.db')
  return {
    setting: { kind: 'sqlite', file },
    sql: async (statement) => runSqlite(file, statement),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

export function runSqlite(file: string, statement: string): Rows {
  const connection = new Database(file)
  try {
    const prepared = connection.prepare<[], Record<string, unknown>>(statement)
    if (prepared.reader) return prepared.all()
    prepared.run()
    return []
  } finally {
    connection.close()
  }
}

const engineOf = (setting: StoreSetting): Engine =>
  setting.kind === 'sqlite' ? sqliteEngine(setting.file, systemClock) : postgresEngine(setting.url, systemClock)

function fail(): never {
  throw new Error('A database exists only inside a test.')
}
