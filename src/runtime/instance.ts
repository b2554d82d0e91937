import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import Database from 'better-sqlite3'
import type { Clock } from '../primitives/clock.ts'
import { poll } from '../primitives/retry.ts'
import { prepareStateFile, readStateFile, writeStateFile } from './state-file.ts'

/** The name of an instance, unique on its store, and the lock on the state folder if it was free. */
export interface Claim {
  readonly name: string
  /** A random text of this process. */
  readonly process: string
  /** The process that held the folder before, if this is certain. It has ended: it held the lock. */
  readonly former?: string | undefined
  release(): void
}

/** How long a service waits for the folder. A running command also holds its lock. */
const SERVICE_WAIT_MS = 5_000
const RETRY_MS = 50

/**
 * The name of this process. It is stored in the state folder and belongs to the process that holds the folder. After a
 * crash the restarted instance has the same name, so it can continue its runs before their leases expire. While another
 * process holds the folder, this one gets a new name.
 */
export function claimInstance(stateDir: string): Claim {
  return claimAlone(stateDir, false) ?? { name: newName(), process: newProcess(), release: () => undefined }
}

/** The same for a service. A state folder has only one service, because its certificates, orders and backups have one writer. */
export async function claimService(stateDir: string, clock: Clock, waitMs = SERVICE_WAIT_MS): Promise<Claim> {
  const claim = await poll(
    () => claimAlone(stateDir, true),
    (claimed) => claimed !== undefined,
    { firstMs: RETRY_MS, withinMs: waitMs, clock },
  )
  if (claim) return claim
  throw new Error(
    `Another Drawbridge service uses the state folder ${stateDir}. Stop that service, or give this one a stateDir of its own.`,
  )
}

/** Locked by the service of a state folder. */
export const lockFileOf = (stateDir: string): string => join(stateDir, 'instance.lock')

function claimAlone(stateDir: string, isService: boolean): Claim | undefined {
  const lockFile = lockFileOf(stateDir)
  const release = lock(lockFile)
  if (!release) return undefined
  try {
    return { ...named(stateDir, lockFile, isService), release }
  } catch (error) {
    release()
    throw error
  }
}

function named(stateDir: string, lockFile: string, isService: boolean): Omit<Claim, 'release'> {
  const file = join(stateDir, 'instance.json')
  const stored = storedIn(readStateFile(file))
  const { name = newName() } = stored
  const process = newProcess()
  const place = placeOf(lockFile)
  // A copied folder names the process of the original, whose service may be alive.
  const former = stored.place === place ? stored.process : undefined
  const kept = isService ? { name, process, place } : { ...stored, name }
  writeStateFile(file, JSON.stringify(kept))
  return { name, process, former }
}

/** Differs between a file and its copies. */
function placeOf(file: string): string {
  const { dev, ino, birthtimeMs } = statSync(file)
  return `${dev} ${ino} ${birthtimeMs}`
}

/**
 * An exclusive lock that the system releases when its holder dies. It also works between containers, where pids have no
 * common meaning. Node has no such lock, so an SQLite lock on an empty database is used. Do not open the file in any other
 * way: closing it would release the lock.
 */
function lock(file: string): (() => void) | undefined {
  prepareStateFile(file)
  const database = new Database(file, { timeout: 0 })
  try {
    database.pragma('locking_mode = EXCLUSIVE')
    database.exec('BEGIN EXCLUSIVE')
    return () => void database.close()
  } catch (error) {
    database.close()
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined
    throw error
  }
}

const newName = (): string => `instance-${randomBytes(8).toString('hex')}`
const newProcess = (): string => `process-${randomBytes(8).toString('hex')}`

interface Stored {
  readonly name?: string
  readonly process?: string
  readonly place?: string
}

function storedIn(text = ''): Stored {
  try {
    const stored: unknown = JSON.parse(text)
    if (typeof stored !== 'object' || stored === null) return {}
    return Object.fromEntries(Object.entries(stored).filter(([, value]) => typeof value === 'string'))
  } catch {
    return {}
  }
}

/** Creates the state folder with mode 0700. Throws if an existing folder is open to other users. */
export function claimStateFolder(path: string): void {
  const made = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (made) chmodSync(path, 0o700)
  if (statSync(path).mode & 0o077) {
    throw new Error(`The state folder ${path} is open to other users than its owner. Run: chmod 0700 ${path}`)
  }
}

/**
 * Limits the memory of the process. By default V8 lets the space for new objects grow to save garbage collections: with
 * 10,000 hosts the process takes over 500 MB, several times what it uses. With these flags the space keeps its initial
 * size and collections start early. That halves the memory and costs a few percent of processor time.
 */
export function keepMemorySmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=12')
}
