import { chmodSync, lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { errorCode } from '../../primitives/durable-file.ts'
import { EdgeFault } from '../contract.ts'
import { faultOf } from '../faults.ts'
import { FENCES_LOCK, LOCK } from '../layout.ts'

/**
 * One engine per nginx: an agent owns the folder of its edge as long as it lives, and services without an agent use it together, each
 * for the time of a change. The system releases the lock when its holder dies. Node has no such lock, so those of SQLite on an empty
 * database are used. The file must not be opened in any other way: closing it would release the lock.
 */
export function ownFolder(folder: string): () => void {
  make(folder)
  const database = opened(folder)
  try {
    database.exec('BEGIN EXCLUSIVE')
    return () => void database.close()
  } catch (error) {
    database.close()
    if (!isBusy(error)) throw error
    throw new EdgeFault(
      'unavailable',
      `${folder} is in use by ${holderOf(folder)}. One nginx has one agent: stop that one first.`,
    )
  }
}

/** Runs `work` while no agent owns the folder. Rejects with `unavailable` if one does. */
export async function whileUnowned<T>(folder: string, server: string, work: () => Promise<T>): Promise<T> {
  const database = opened(folder)
  try {
    share(database)
    return await work()
  } catch (error) {
    if (!isBusy(error)) throw error
    throw new EdgeFault(
      'unavailable',
      `Edge ${server} belongs to an agent (${holderOf(folder)}). Set edges.${server}.agent in the configuration, or stop the agent.`,
    )
  } finally {
    database.close()
  }
}

/** How long a claim waits for the process that writes the fences anew. That takes milliseconds. */
const REWRITE_MS = 5_000

/** Runs `work` while nobody writes the fences anew. Any number of processes append to them at the same time. */
export async function whileAppending<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const database = opened(folder, FENCES_LOCK)
  try {
    database.pragma(`busy_timeout = ${REWRITE_MS}`)
    share(database)
    return await work()
  } catch (error) {
    if (!isBusy(error)) throw error
    throw new EdgeFault(
      'write_failed',
      `${join(folder, FENCES_LOCK)} is held by another process for more than ${REWRITE_MS / 1_000} s.`,
    )
  } finally {
    database.close()
  }
}

/** Runs `work`, which must not wait for anything, if nobody appends fences at this moment. */
export function unlessAppending(folder: string, work: () => void): void {
  const database = opened(folder, FENCES_LOCK)
  try {
    database.exec('BEGIN EXCLUSIVE')
    work()
  } catch (error) {
    if (!isBusy(error)) throw error
  } finally {
    database.close()
  }
}

/** The agent owns the folder before it prepares the edge: on a new nginx it is not there yet. */
function make(folder: string): void {
  try {
    mkdirSync(folder)
    chmodSync(folder, 0o755)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw faultOf(folder, error)
  }
}

function share(database: Database.Database): void {
  database.exec('BEGIN')
  database.prepare('SELECT count(*) FROM sqlite_master').get()
}

function opened(folder: string, name = LOCK): Database.Database {
  const file = join(folder, name)
  try {
    const database = new Database(file, { timeout: 0 })
    chmodSync(file, 0o600)
    return database
  } catch (error) {
    throw error instanceof Database.SqliteError
      ? new EdgeFault(
          'write_failed',
          `${file} could not be opened (${error.code}). It takes the right to write in that folder.`,
        )
      : faultOf(name, error)
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')

/** The process that holds the lock, by the table of locks of the system. */
function holderOf(folder: string): string {
  try {
    const { ino } = lstatSync(join(folder, LOCK))
    const [, pid] =
      new RegExp(`^\\d+: POSIX +ADVISORY +\\w+ +(\\d+) [0-9a-f:]+:${ino} `, 'm').exec(
        readFileSync('/proc/locks', 'utf8'),
      ) ?? []
    return pid === undefined || pid === '0' ? 'another process' : `process ${pid}`
  } catch {
    return 'another process'
  }
}
