import {
  type DatabaseConnection,
  type PostgresCursor,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
  sql,
} from 'kysely'
import pg from 'pg'
import type { Clock } from '../../primitives/clock.ts'
import type { Engine } from './engine.ts'
import { postgresListener } from './postgres-listener.ts'

/** The key of the advisory lock, which no other program may use in this database: "draw" in ASCII. */
const SCHEMA_LOCK = 0x64726177
const BIGINT = 20

/**
 * A parameter of the URL overrides each of these. The client's timeout is longer than the server's, so the server
 * answers first.
 */
const TIMEOUTS = {
  connectionTimeoutMillis: 5_000,
  statement_timeout: 10_000,
  query_timeout: 15_000,
  idle_in_transaction_session_timeout: 30_000,
}

/**
 * Classes of SQLSTATE for failures of connection, session, transaction, resources, operator and system:
 * https://www.postgresql.org/docs/15/errcodes-appendix.html
 */
const FAILURE_CODES = /^(08|25P03|40|53|57|58|XX)/

/** Transaction rollback, serialization failure, deadlock. Of the same class, 40002 fails again and 40003 may have succeeded. */
const ROLLED_BACK_CODES = /^40(000|001|P01)$/

export function postgresEngine(url: string, clock: Clock): Engine {
  return {
    clock,
    dialect: new SafeRollbackDialect({ pool: async () => openPool(url) }),
    exists: () => true,
    lockSchema: async (transaction) => {
      await sql`select pg_advisory_xact_lock(${SCHEMA_LOCK})`.execute(transaction)
    },
    lockForCopy: async (transaction) => {
      await sql`set transaction isolation level repeatable read`.execute(transaction)
      // The source waits while the target is written and summed, which may take long.
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction)
      // Every change writes to one of these tables. Reads go on.
      await sql`lock table plans, runs, leases, audit_head, instances in exclusive mode`.execute(transaction)
    },
    listener: (self) => postgresListener(url, self, clock),
    groupsCommits: false,
    isRolledBack: (error) => error instanceof pg.DatabaseError && ROLLED_BACK_CODES.test(error.code ?? ''),
    isFailure: (error) =>
      error instanceof pg.DatabaseError ? FAILURE_CODES.test(error.code ?? '') : error instanceof LostConnection,
  }
}

function openPool(url: string): PostgresPool {
  const types = new pg.TypeOverrides()
  types.setTypeParser(BIGINT, Number)
  const pool = new pg.Pool({ ...TIMEOUTS, connectionString: url, max: 10, keepAlive: true, types })
  // A lost connection fails the call that uses it, or the pool replaces it before the next call. Without a listener the
  // `error` event would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return { connect: () => connect(pool), end: () => pool.end() }
}

async function connect(pool: pg.Pool): Promise<PostgresPoolClient> {
  try {
    return new GuardedClient(await pool.connect())
  } catch (error) {
    throw serverError(error) ?? new LostConnection(error)
  }
}

/**
 * Wraps errors of sockets and of the driver, which have no class in common. They are recognized by where they are
 * caught.
 */
class LostConnection extends Error {
  constructor(cause: unknown) {
    const [reason = cause] = cause instanceof AggregateError ? cause.errors : [cause]
    super(reason instanceof Error ? reason.message : String(reason), { cause })
  }
}

const serverError = (error: unknown): pg.DatabaseError | undefined =>
  error instanceof pg.DatabaseError ? error : undefined

/**
 * After an error that the server did not send, it is unknown whether the server executed the statement, and a
 * transaction may still be open. The client then refuses all further statements, and the pool discards its connection.
 */
class GuardedClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient
  #lost: LostConnection | undefined

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>
  query<Row>(cursor: PostgresCursor<Row>): never
  async query(text: unknown, parameters: readonly unknown[] = []): Promise<unknown> {
    if (typeof text !== 'string') throw new Error('This store reads without cursors.')
    if (this.#lost) throw this.#lost
    try {
      return await this.#client.query(text, [...parameters])
    } catch (error) {
      const answered = serverError(error)
      if (answered) throw answered
      this.#lost = new LostConnection(error)
      throw this.#lost
    }
  }

  release(): void {
    this.#client.release(this.#lost)
  }
}

class SafeRollbackDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig

  constructor(config: PostgresDialectConfig) {
    super(config)
    this.#config = config
  }

  override createDriver(): PostgresDriver {
    return new SafeRollbackDriver(this.#config)
  }
}

class SafeRollbackDriver extends PostgresDriver {
  /**
   * A lost connection cannot roll back and need not. The error of the rollback would hide the error that lost the
   * connection.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {})
  }
}
