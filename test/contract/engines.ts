import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { systemClock } from '../../src/primitives/clock.ts'
import type { Engine } from '../../src/store/dialects/engine.ts'
import { postgresEngine } from '../../src/store/dialects/postgres.ts'
import { sqliteEngine } from '../../src/store/dialects/sqlite.ts'
import { openStore, type StoreSetting } from '../../src/store/open.ts'
import type { Store } from '../../src/store/ports/store.ts'
import { type PostgresCluster, runSql, startPostgres } from '../support/programs/postgres.ts'

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
  engine(): Engine
  sql(statement: string): Promise<Rows>
}

export function onSqlite(): Bench {
  return benchOn(createSqliteDatabase)
}

export function onPostgres(): Bench {
  let cluster: PostgresCluster | undefined
  beforeAll(async () => {
    cluster = await startPostgres()
  })
  afterAll(() => cluster?.stop())
  return benchOn(async () => {
    if (!cluster) throw new Error('PostgreSQL did not start.')
    const { url, empty } = cluster
    return { setting: { kind: 'postgres', url }, sql: (statement) => runSql(url, statement), remove: empty }
  })
}

function benchOn(createDatabase: () => Promise<TestDatabase>): Bench {
  let present: TestDatabase | undefined
  const opened: Store[] = []
  const database = () => present ?? fail()
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
    async open() {
      const store = await openStore(database().setting)
      opened.push(store)
      return store
    },
  }
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
