import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import Database from 'better-sqlite3'
import { poll } from '../primitives/retry.ts'

/** A name among all instances on a store, and the hold on the state folder where it was free. */
export interface Claim {
  readonly name: string
  release(): void
}

/** A command beside the service holds the folder for as long as it takes, too. */
const SERVICE_PATIENCE_MS = 5_000
const ASK_AGAIN_MS = 50

/**
 * The name of this program. It is kept in the state folder and belongs to whoever holds the folder: after a crash the same
 * instance may take up its own runs at once, its leases still standing. While another program holds the folder, this one
 * gets a name of its own.
 */
export function claimInstance(stateDir: string): Claim {
  return claimAlone(stateDir) ?? { name: newName(), release: () => undefined }
}

/** The same for a service, of which a state folder has one: certificates, orders and backups in it have no second writer. */
export async function claimService(stateDir: string, patienceMs = SERVICE_PATIENCE_MS): Promise<Claim> {
  const claim = await poll(
    () => claimAlone(stateDir),
    (claimed) => claimed !== undefined,
    { firstMs: ASK_AGAIN_MS, withinMs: patienceMs },
  )
  if (claim) return claim
  throw new Error(
    `Another Drawbridge service uses the state folder ${stateDir}. Stop that service, or give this one a stateDir of its own.`,
  )
}

function claimAlone(stateDir: string): Claim | undefined {
  const release = lock(join(stateDir, 'instance.lock'))
  if (!release) return undefined
  const file = join(stateDir, 'instance.json')
  const name = keptName(file) ?? newName()
  writeFileSync(file, JSON.stringify({ name }), { mode: 0o600 })
  return { name, release }
}

/**
 * An exclusive lock that the system takes away when its holder dies, and that programs in other containers see: what a pid
 * means differs from one pid namespace to the next. Node offers none, so it is SQLite's, on an empty database. The file is
 * never opened in another way: closing it would end the lock.
 */
function lock(file: string): (() => void) | undefined {
  const database = new Database(file, { timeout: 0 })
  try {
    chmodSync(file, 0o600)
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

function keptName(file: string): string | undefined {
  try {
    const kept: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const name = typeof kept === 'object' && kept !== null && 'name' in kept ? kept.name : undefined
    return typeof name === 'string' ? name : undefined
  } catch {
    return undefined
  }
}

/** Makes the folder for our own files, for us alone; an existing one that others may enter is refused. */
export function claimStateFolder(path: string): void {
  const made = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (made) chmodSync(path, 0o700)
  if (statSync(path).mode & 0o077) {
    throw new Error(`The state folder ${path} may be read by others than its owner; run: chmod 0700 ${path}`)
  }
}

/**
 * Left alone, V8 lets its space for new objects grow to where it saves collections, and the process to several times what
 * it uses: with 10,000 hosts over 500 MB. A service that runs for months beside others keeps that space as it is at the
 * start and collects early, which halves it and costs a few hundredths of the processor.
 */
export function keepMemorySmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=12')
}
