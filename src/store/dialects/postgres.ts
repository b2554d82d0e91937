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
import type { Engine } from './engine.ts'

/** Any number that nobody else locks by in this database: "draw" in ASCII. */
const SCHEMA_LOCK = 0x64726177
const BIGINT = 20

/** Each of these can be set otherwise as a parameter of the URL. The client gives up only after the server should have. */
const PATIENCE = {
  connectionTimeoutMillis: 5_000,
  statement_timeout: 10_000,
  query_timeout: 15_000,
  idle_in_transaction_session_timeout: 30_000,
}

/** Connection, session ended, transaction given up, resources, operator, system: https://www.postgresql.org/docs/15/errcodes-appendix.html */
const OUT_OF_ORDER = /^(08|25P03|40|53|57|58|XX)/

export function postgresEngine(url: string): Engine {
  return {
    dialect: new ForgivingPostgresDialect({ pool: async () => openPool(url) }),
    isMade: () => true,
    lockSchema: async (transaction) => {
      await sql`select pg_advisory_xact_lock(${SCHEMA_LOCK})`.execute(transaction)
    },
    isFailure: (error) =>
      error instanceof pg.DatabaseError ? OUT_OF_ORDER.test(error.code ?? '') : error instanceof LostConnection,
  }
}

function openPool(url: string): PostgresPool {
  const types = new pg.TypeOverrides()
  types.setTypeParser(BIGINT, Number)
  const pool = new pg.Pool({ ...PATIENCE, connectionString: url, max: 10, keepAlive: true, types })
  // A lost connection fails the call that uses it, or the pool replaces it before the next. Unheard, the event would end the service.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return { connect: () => connect(pool), end: () => pool.end() }
}

async function connect(pool: pg.Pool): Promise<PostgresPoolClient> {
  try {
    return new WaryClient(await pool.connect())
  } catch (error) {
    throw asToldByServer(error) ?? new LostConnection(error)
  }
}

/** Errors of sockets and of the driver have no class in common: they are known by where they were thrown. */
class LostConnection extends Error {
  constructor(cause: unknown) {
    const [reason = cause] = cause instanceof AggregateError ? cause.errors : [cause]
    super(reason instanceof Error ? reason.message : String(reason), { cause })
  }
}

const asToldByServer = (error: unknown): pg.DatabaseError | undefined =>
  error instanceof pg.DatabaseError ? error : undefined

/**
 * An error that did not come from the server leaves open what the server did, and perhaps a transaction that has not
 * ended. Such a connection answers nothing more and is not used again.
 */
class WaryClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient
  #lost: LostConnection | undefined

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>
  query<Row>(cursor: PostgresCursor<Row>): never
  async query(text: unknown, parameters: readonly unknown[] = []): Promise<unknown> {
    if (typeof text !== 'string') throw new Error('this store reads without cursors')
    if (this.#lost) throw this.#lost
    try {
      return await this.#client.query(text, [...parameters])
    } catch (error) {
      const told = asToldByServer(error)
      if (told) throw told
      this.#lost = new LostConnection(error)
      throw this.#lost
    }
  }

  release(): void {
    this.#client.release(this.#lost)
  }
}

class ForgivingPostgresDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig

  constructor(config: PostgresDialectConfig) {
    super(config)
    this.#config = config
  }

  override createDriver(): PostgresDriver {
    return new ForgivingPostgresDriver(this.#config)
  }
}

class ForgivingPostgresDriver extends PostgresDriver {
  /** A lost connection cannot roll back and need not: the error that lost it is the one that tells why. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {})
  }
}
