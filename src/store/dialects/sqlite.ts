import { chmodSync, closeSync, constants, existsSync, fchmodSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { CompiledQuery, type DatabaseConnection, SqliteDialect, SqliteDriver, type TransactionSettings } from 'kysely'
import type { Clock } from '../../primitives/clock.ts'
import { errorCode, syncContent } from '../../primitives/durable-file.ts'
import { LruCache } from '../../primitives/lru-cache.ts'
import { retry } from '../../primitives/retry.ts'
import { Checkpoints } from './checkpoints.ts'
import { type Engine, UnusableStore } from './engine.ts'

/** Short pauses, because a transaction of another instance takes milliseconds. */
const BUSY_RETRY = { firstMs: 3, spread: 0.7, withinMs: 5_000 }
/** An eighth of the driver's default: the file cache of the system holds the same pages. */
const CACHE_KIB = 2_000
/** Lists of any length make ever new and long statements. Long statements are not cached. */
const CACHED_STATEMENTS = 500
const LONGEST_CACHED = 2_000

export function sqliteEngine(file: string, clock: Clock): Engine {
  const retryWhileBusy: RetryWhileBusy = (attempt) => retry(attempt, isBusy, { ...BUSY_RETRY, clock })
  const database = () => openDatabase(file, retryWhileBusy)
  return {
    clock,
    dialect: new RetryingSqliteDialect({
      ...{ database, retryWhileBusy, clock },
      log: new WriteAheadLog(file),
      checkpoints: new Checkpoints(file, clock),
    }),
    exists: () => existsSync(file),
    // Every transaction begins IMMEDIATE, so it is the only writer already.
    lockSchema: async () => {},
    lockForCopy: async () => {},
    groupsCommits: true,
    // It has one writer.
    isRolledBack: () => false,
    isFailure: (error) => error instanceof Database.SqliteError && !error.code.startsWith('SQLITE_CONSTRAINT'),
    fullFolder: (error) =>
      error instanceof Database.SqliteError && error.code === 'SQLITE_FULL' ? dirname(file) : undefined,
  }
}

/**
 * Retries while another instance has locked the file. SQLite's own waiting (busy_timeout) is switched off, because it
 * would block the event loop of the whole service.
 */
type RetryWhileBusy = <T>(attempt: () => T | Promise<T>) => Promise<T>

const isBusy = (error: unknown): boolean =>
  error instanceof Database.SqliteError && (error.code === 'SQLITE_BUSY' || error.code === 'SQLITE_BUSY_RECOVERY')

async function openDatabase(file: string, retryWhileBusy: RetryWhileBusy): Promise<Database.Database> {
  makePrivate(file)
  const database = new Database(file, { timeout: 0 })
  try {
    const mode = await retryWhileBusy(() => database.pragma('journal_mode = WAL', { simple: true }))
    if (mode !== 'wal')
      throw new UnusableStore('SQLite cannot use its write-ahead log on this disk. Put the file on a local disk.')
    // The driver waits for the disk after each commit, beside the event loop. SQLite itself would block the loop meanwhile.
    database.pragma('synchronous = NORMAL')
    // The driver decides when. SQLite itself would do it within a commit.
    database.pragma('wal_autocheckpoint = 0')
    database.pragma('foreign_keys = ON')
    database.pragma(`cache_size = -${CACHE_KIB}`)
    return withStatementCache(database)
  } catch (error) {
    database.close()
    throw error
  }
}

/** Caches compiled statements: the service repeats a few dozen, and compiling one costs as much as executing it. */
function withStatementCache(database: Database.Database): Database.Database {
  const statements = new LruCache<string, Database.Statement>(CACHED_STATEMENTS)
  const compile = database.prepare.bind(database)
  const prepare = (sql: string) => {
    const cached = statements.get(sql)
    if (cached) return cached
    const statement = compile(sql)
    if (sql.length < LONGEST_CACHED) statements.set(sql, statement)
    return statement
  }
  return Object.assign(database, { prepare })
}

/**
 * Creates the file with mode 0600 before SQLite opens it, because SQLite gives its side files the mode of the main
 * file.
 */
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

/** The file that SQLite appends every transaction to. It stays the same while the database is open. */
class WriteAheadLog {
  readonly #path: string
  #descriptor: number | undefined

  constructor(file: string) {
    this.#path = `${file}-wal`
  }

  /** What was committed before survives a power loss when this resolves. */
  async flush(): Promise<void> {
    try {
      this.#descriptor ??= openSync(this.#path, constants.O_RDONLY)
      await syncContent(this.#descriptor, this.#path)
    } catch (error) {
      // Nothing was written yet.
      if (errorCode(error) === 'ENOENT') return
      const reason = errorCode(error) ?? String(error)
      throw new Database.SqliteError(`The write-ahead log could not be written: ${reason}`, 'SQLITE_IOERR_FSYNC')
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }
}

interface DriverParts {
  readonly database: () => Promise<Database.Database>
  readonly log: WriteAheadLog
  readonly checkpoints: Checkpoints
  readonly retryWhileBusy: RetryWhileBusy
  readonly clock: Clock
}

class RetryingSqliteDialect extends SqliteDialect {
  readonly #parts: DriverParts

  constructor(parts: DriverParts) {
    super({ database: parts.database })
    this.#parts = parts
  }

  override createDriver(): SqliteDriver {
    return new RetryingSqliteDriver(this.#parts)
  }
}

/** How long statements may block the event loop before other work gets the processor. */
const MAX_BLOCKING_MS = 10
/** The write-ahead log goes into the database file after this many values, which are about 4 MB of log. */
const VALUES_PER_CHECKPOINT = 3_000

class RetryingSqliteDriver extends SqliteDriver {
  readonly #parts: DriverParts
  #lastYieldAt = Number.NEGATIVE_INFINITY
  /** There is one connection. */
  #isInTransaction = false
  /** Values written since the last checkpoint. */
  #written = 0

  constructor(parts: DriverParts) {
    super({ database: parts.database })
    this.#parts = parts
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection()
    await this.#yieldInTime()
    return {
      executeQuery: async (query) => {
        await this.#yieldInTime()
        const result = await this.#parts.retryWhileBusy(() => connection.executeQuery<never>(query))
        if (query.query.kind === 'SelectQueryNode') return result
        this.#written += query.parameters.length
        if (!this.#isInTransaction) await this.#keep()
        return result
      },
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    }
  }

  /**
   * Yields to the event loop after MAX_BLOCKING_MS, inside transactions too. SQLite answers synchronously, so awaiting it never
   * yields: dozens of statements in a row would delay every answer from the network. Others wait for the connection meanwhile.
   */
  async #yieldInTime(): Promise<void> {
    const { clock } = this.#parts
    if (clock.monotonic() - this.#lastYieldAt <= MAX_BLOCKING_MS) return
    await clock.turn()
    this.#lastYieldAt = clock.monotonic()
  }

  /**
   * Takes the write lock at the start: a transaction that reads first could otherwise fail when it begins to write. One that only
   * reads takes none: others write meanwhile, and it goes on reading the state of its first query.
   */
  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings = {}): Promise<void> {
    this.#isInTransaction = true
    const begin = settings.accessMode === 'read only' ? 'begin' : 'begin immediate'
    try {
      await connection.executeQuery(CompiledQuery.raw(begin))
    } catch (error) {
      this.#isInTransaction = false
      throw error
    }
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection)
    await this.#keep()
    this.#isInTransaction = false
  }

  /** Nobody else uses the connection until what it has written is on the disk, so nobody reads what a power loss would take back. */
  async #keep(): Promise<void> {
    await this.#parts.log.flush()
    if (this.#written < VALUES_PER_CHECKPOINT) return
    this.#written = 0
    // Awaited, because a log to which others append meanwhile never starts over, and grows.
    await this.#parts.checkpoints.make()
  }

  /** After some failures, such as a full disk, SQLite has rolled back already. A second error would hide the first. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {})
    this.#isInTransaction = false
  }

  override async destroy(): Promise<void> {
    await this.#parts.checkpoints.end()
    this.#parts.log.close()
    await super.destroy()
  }
}
