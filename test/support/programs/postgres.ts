import { readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { asPostgres, initCluster, UNSAFE_SETTINGS } from '../../../network/postgres.ts'
import { exitOnTermination } from '../worker-end.ts'

const SETTINGS = [...UNSAFE_SETTINGS, 'autovacuum=off', 'listen_addresses=127.0.0.1']

export const KILL_OTHERS = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

/** A database of a real PostgreSQL: temporary folder, free port on 127.0.0.1. */
export interface PostgresCluster {
  readonly url: string
  /** Ends the server as a crash does (`pg_ctl stop -m immediate`). Its data stay. */
  crash(): Promise<void>
  /** Starts the server again after a crash. */
  restart(): Promise<void>
  /** Drops the database. */
  stop(): Promise<void>
}

interface SharedCluster {
  readonly folder: string
  readonly port: number
  databases: number
}

/** The cluster of this worker. Modules may be loaded again for each file, so it is kept at the process. */
const KEY = Symbol.for('drawbridge.shared-postgres')
const holder = globalThis as { [KEY]?: Promise<SharedCluster> }

/** A new database in a cluster that all files of this worker share, one file after the other. */
export async function borrowPostgres(): Promise<PostgresCluster> {
  holder[KEY] ??= startShared()
  const shared = await holder[KEY]
  shared.databases += 1
  const name = `borrowed_${shared.databases}`
  const { folder, port } = shared
  const server = `postgres://postgres@127.0.0.1:${port}`
  await runSql(`${server}/postgres`, `create database ${name}`)
  const url = `${server}/${name}`
  const restart = () => startServer(folder, port)
  return {
    url,
    crash: () => asPostgres('pg_ctl', ['-D', join(folder, 'data'), '-m', 'immediate', '-w', 'stop']),
    restart,
    stop: async () => {
      // A test that failed may have left it stopped.
      await restart().catch(() => undefined)
      await runSql(`${server}/postgres`, `drop database ${name} with (force)`)
    },
  }
}

async function startShared(): Promise<SharedCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'drawbridge-postgres-'))
  const port = await freePort()
  await initCluster(folder)
  await startServer(folder, port)
  exitOnTermination()
  process.once('exit', () => {
    try {
      // At once, without a checkpoint.
      process.kill(Number.parseInt(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8'), 10), 'SIGQUIT')
    } catch {
      // A test has left it stopped. An error here would keep the labs of this worker from being stopped.
    }
  })
  return { folder, port, databases: 0 }
}

async function startServer(folder: string, port: number): Promise<void> {
  const settings = [...SETTINGS, `unix_socket_directories=${folder}`]
  const options = [`-p ${port}`, ...settings.map((setting) => `-c ${setting}`)].join(' ')
  await asPostgres('pg_ctl', ['-D', join(folder, 'data'), '-l', join(folder, 'log'), '-o', options, '-w', 'start'])
}

/** Empties a database. Faster than a new one for every test, which copies megabytes. */
export const EMPTY = `${KILL_OTHERS}; drop schema public cascade; create schema public`

type Rows = Record<string, unknown>[]

/** One statement on a separate connection, not through the store. */
export async function runSql(url: string, statement: string): Promise<Rows> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('No port is free on 127.0.0.1.')
  return address.port
}
