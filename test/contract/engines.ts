import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, beforeEach, it } from 'vitest'
import { systemClock } from '../../src/primitives/clock.ts'
import type { Engine } from '../../src/store/dialects/engine.ts'
import { postgresEngine } from '../../src/store/dialects/postgres.ts'
import { sqliteEngine } from '../../src/store/dialects/sqlite.ts'
import { openStore, type StoreSetting } from '../../src/store/open.ts'
import type { Store } from '../../src/store/ports/store.ts'
import {
  borrowPostgres,
  KILL_OTHERS,
  onConnection,
  type PostgresCluster,
  runSql,
} from '../support/programs/postgres.ts'

type Rows = Record<string, unknown>[]

/** An empty database, and direct access to it without the store. */
interface TestDatabase {
  readonly setting: StoreSetting
  sql(statement: string): Promise<Rows>
  remove(): Promise<void>
}

/** A new database before every test, and stores that are closed after it. */
export interface Bench {
  setting(): StoreSetting
  open(): Promise<Store>
  /** A test on as many instances as its work has parameters. */
  it(name: string, work: (...stores: Store[]) => Promise<void>): void
  engine(): Engine
  sql(statement: string): Promise<Rows>
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
  let fresh: FreshTables | undefined
  beforeAll(async () => {
    cluster = await borrowPostgres()
  })
  afterAll(() => cluster?.stop())
  return benchOn(async () => {
    if (!cluster) throw new Error('PostgreSQL did not start.')
    const { url } = cluster
    const setting: StoreSetting = { kind: 'postgres', url }
    if (!empty && !fresh) {
      await (await openStore(setting)).close()
      fresh = await readFreshTables(url)
    }
    const remove = async () => {
      if (await isReset(url, fresh)) return
      fresh = undefined
      await cluster?.empty()
    }
    return { setting, sql: (statement) => runSql(url, statement), remove }
  })
}

/** The tables of a new store: what they are, and the statements that bring them back. */
interface FreshTables {
  readonly shape: string
  readonly reset: string
}

const SHAPE = `select
  (select string_agg(relname::text || relkind::text, ',' order by relname) from pg_class where relnamespace = 'public'::regnamespace) ||
  (select count(*) from pg_trigger)::text || ' ' || (select count(*) from pg_attribute where attrelid > 16383)::text as shape`

async function readFreshTables(url: string): Promise<FreshTables> {
  const tables = await runSql(url, "select tablename as name from pg_tables where schemaname = 'public'")
  const names = tables.map(({ name }) => String(name))
  const rows = await Promise.all(
    names.map(async (name) => {
      const [found] = await runSql(url, `select coalesce(json_agg(t), '[]')::text as rows from ${name} t`)
      const text = String(found?.rows).replaceAll("'", "''")
      return text === '[]' ? '' : `insert into ${name} select * from json_populate_recordset(null::${name}, '${text}');`
    }),
  )
  const sequences = await runSql(url, "select sequencename as name from pg_sequences where schemaname = 'public'")
  return {
    shape: shapeIn(await runSql(url, SHAPE)),
    reset: [
      'set session_replication_role = replica;',
      ...names.map((name) => `delete from ${name};`),
      ...sequences.map(({ name }) => `alter sequence ${name} restart;`),
      ...rows,
    ].join('\n'),
  }
}

/** Ends what is connected and makes the tables as new. False: a test changed the tables themselves. */
const isReset = (url: string, fresh: FreshTables | undefined): Promise<boolean> =>
  onConnection(url, async (query) => {
    await query(KILL_OTHERS)
    if (!fresh || shapeIn(await query(SHAPE)) !== fresh.shape) return false
    await query(fresh.reset)
    return true
  })

const shapeIn = ([found]: Rows): string => String(found?.shape)

function benchOn(createDatabase: () => Promise<TestDatabase>): Bench {
  let present: TestDatabase | undefined
  const opened: Store[] = []
  const database = () => present ?? fail()
  const open = async () => {
    const store = await openStore(database().setting)
    opened.push(store)
    return store
  }
  beforeEach(async () => {
    present = await createDatabase()
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()))
    await present?.remove()
    present = undefined
  })
  return {
    setting: () => database().setting,
    sql: (statement) => database().sql(statement),
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

function runSqlite(file: string, statement: string): Rows {
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
