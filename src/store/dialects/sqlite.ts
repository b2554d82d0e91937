import { chmodSync, closeSync, constants, existsSync, fchmodSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { CompiledQuery, type DatabaseConnection, SqliteDialect, SqliteDriver } from 'kysely'
import { retry } from '../../primitives/retry.ts'
import type { Engine } from './engine.ts'

/** Another instance's transactions take milliseconds. */
const PATIENCE = { firstMs: 3, spread: 0.7, withinMs: 5_000 }
/** The driver's own choice is eight times that; the system keeps what is read in its file cache anyway. */
const CACHE_KIB = 2_000
/** Lists of any length make statements without end, and long ones: those are not kept. */
const MOST_STATEMENTS = 500
const LONGEST_STATEMENT = 2_000

export function sqliteEngine(file: string): Engine {
  return {
    dialect: new PatientSqliteDialect({ database: () => openDatabase(file) }),
    isMade: () => existsSync(file),
    // Every transaction begins IMMEDIATE and so is the only writer already.
    lockSchema: async () => {},
    isFailure: (error) => error instanceof Database.SqliteError && !error.code.startsWith('SQLITE_CONSTRAINT'),
  }
}

/**
 * SQLite's own waiting (busy_timeout) would stand still with the whole service in it. So it waits not at all, and
 * whatever finds the file locked by another instance is tried again here, while everything else goes on.
 */
const patiently = <T>(attempt: () => T | Promise<T>): Promise<T> => retry(attempt, isBusy, PATIENCE)

const isBusy = (error: unknown): boolean =>
  error instanceof Database.SqliteError && (error.code === 'SQLITE_BUSY' || error.code === 'SQLITE_BUSY_RECOVERY')

async function openDatabase(file: string): Promise<Database.Database> {
  makePrivate(file)
  const database = new Database(file, { timeout: 0 })
  try {
    const mode = await patiently(() => database.pragma('journal_mode = WAL', { simple: true }))
    if (mode !== 'wal') throw new Error(`SQLite cannot use its write-ahead log on ${file}: put it on a local disk`)
    database.pragma('synchronous = FULL')
    database.pragma('foreign_keys = ON')
    database.pragma(`cache_size = -${CACHE_KIB}`)
    return rememberingStatements(database)
  } catch (error) {
    database.close()
    throw error
  }
}

/** The same few dozen statements are asked for again and again: to compile one costs as much as to run it. */
function rememberingStatements(database: Database.Database): Database.Database {
  const statements = new Map<string, Database.Statement>()
  const compile = database.prepare.bind(database)
  const prepare = (sql: string) => {
    const statement = statements.get(sql) ?? compile(sql)
    if (sql.length < LONGEST_STATEMENT && statements.size < MOST_STATEMENTS) statements.set(sql, statement)
    return statement
  }
  return Object.assign(database, { prepare })
}

/** SQLite gives its side files the mode of the main one, so that one gets it before SQLite sees it. */
function makePrivate(file: string): void {
  const folder = dirname(file)
  if (mkdirSync(folder, { recursive: true, mode: 0o700 })) chmodSync(folder, 0o700)
  const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600)
  try {
    fchmodSync(descriptor, 0o600)
  } finally {
    closeSync(descriptor)
  }
}

class PatientSqliteDialect extends SqliteDialect {
  readonly #database: () => Promise<Database.Database>

  constructor(config: { database: () => Promise<Database.Database> }) {
    super(config)
    this.#database = config.database
  }

  override createDriver(): SqliteDriver {
    return new PatientSqliteDriver({ database: this.#database })
  }
}

/** How long statements may follow one another before everything else has a turn. */
const TURN_MS = 10

class PatientSqliteDriver extends SqliteDriver {
  #turnBeganAt = 0

  /**
   * SQLite answers at once, so whoever waits for it never leaves the event loop's present turn: dozens of transactions in
   * a row would be one long turn, in which no answer of the network is heard.
   */
  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection()
    if (performance.now() - this.#turnBeganAt > TURN_MS) {
      await nextTurn()
      this.#turnBeganAt = performance.now()
    }
    return {
      executeQuery: (query) => patiently(() => connection.executeQuery(query)),
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    }
  }

  /** A transaction that reads first and writes later could find that somebody else wrote in between: it is the writer from its start. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  /** After some failures (disk full) SQLite has rolled back already; the first error is the one that tells why. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {})
  }
}
