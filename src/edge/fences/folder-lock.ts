import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { errorCode } from '../../primitives/durable-file.ts'
import { EdgeFault, OwnedElsewhere } from '../contract/fault.ts'
import { faultOf } from '../faults.ts'
import { LOCK } from '../layout.ts'

const LOOKS = 5

/**
 * One owner per nginx: whoever changes an edge holds the lock of its folder from the first change to the end of the process. The system
 * releases it when its holder dies. Node has no such lock, so that of SQLite on an empty database is used. The file must not be opened
 * in any other way: closing it would release the lock.
 */
export class FolderLock {
  readonly #folder: string
  readonly #server: string
  #database: Database.Database | undefined
  #isOver = false

  constructor(folder: string, server: string) {
    this.#folder = folder
    this.#server = server
  }

  /** Takes the lock, unless it is held by this object already. Throws `OwnedElsewhere` if another process has it. */
  take(): void {
    if (this.#database) return
    // What goes on behind the end of the work must not keep the next owner out.
    if (this.#isOver) throw new EdgeFault('unavailable', `This process has ended its work on edge ${this.#server}.`)
    make(this.#folder)
    const database = opened(this.#folder)
    try {
      // Nothing is ever written to it, so no journal shall lie beside it.
      database.pragma('journal_mode = MEMORY')
      database.exec('BEGIN EXCLUSIVE')
      this.#database = database
    } catch (error) {
      database.close()
      if (!isBusy(error)) throw error
      throw ownedElsewhere(this.#server, join(this.#folder, LOCK))
    }
  }

  /** For good. */
  release(): void {
    this.#isOver = true
    this.#database?.close()
    this.#database = undefined
  }
}

/** Runs `work` while no other process owns the folder. A folder that is not there has no owner. */
export async function owning<T>(folder: string, server: string, work: () => Promise<T>): Promise<T> {
  if (!existsSync(folder)) return work()
  const lock = new FolderLock(folder, server)
  try {
    lock.take()
    return await work()
  } finally {
    lock.release()
  }
}

const ownedElsewhere = (server: string, file: string): OwnedElsewhere => {
  const holder = lockHolder(file)
  return new OwnedElsewhere(
    `Edge ${server} belongs to ${holder === undefined ? 'another process' : `process ${holder}`}, and one nginx has one owner. Stop that process. ` +
      `If several services use this nginx, run the edge agent for it and set edges.${server}.agent in each of them.`,
  )
}

/** On a new nginx the folder is not there yet. */
function make(folder: string): void {
  try {
    mkdirSync(folder)
    chmodSync(folder, 0o755)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw faultOf(folder, error)
  }
}

function opened(folder: string): Database.Database {
  const file = join(folder, LOCK)
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
      : faultOf(LOCK, error)
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')

/**
 * The process that holds the lock of a file, by the table of locks of the system. Undefined: nobody, or nobody whom this process can see.
 * The system hands out a long table in parts, and a row that moves between two reads is missing: so whoever is not found is looked for again.
 */
export function lockHolder(file: string, table = () => readFileSync('/proc/locks', 'utf8')): number | undefined {
  try {
    const { ino } = lstatSync(file)
    const row = new RegExp(`^\\d+: POSIX +ADVISORY +\\w+ +(\\d+) [0-9a-f:]+:${ino} `, 'm')
    for (let look = 1; look <= LOOKS; look += 1) {
      const [, pid] = row.exec(table()) ?? []
      if (pid !== undefined) return pid === '0' ? undefined : Number(pid)
    }
  } catch {
    // There is no such file, or no such table on this system.
  }
  return undefined
}
