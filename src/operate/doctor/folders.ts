import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { clauseOf } from '../../primitives/clause.ts'
import { type Finding, fault, ok, reasonOf, warning } from './finding.ts'

/** A folder of Drawbridge. `mode` has the most permissions that it may have. */
export interface OwnFolder {
  readonly subject: string
  readonly path: string
  readonly mode: number
}

/** Checks that the path is a folder and not a link, that this user can write to it, and that its mode is not too open. */
export function examineFolder({ subject, path, mode }: OwnFolder): Finding {
  const octal = mode.toString(8).padStart(4, '0')
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) {
    return fault(subject, `${path} does not exist.`, `mkdir -p -m ${octal} ${path}`, () => {
      mkdirSync(path, { recursive: true, mode })
      chmodSync(path, mode)
    })
  }
  if (!found.isDirectory()) return fault(subject, `${path} is not a folder.`, `Move the file at ${path} away.`)
  const tooMuch = found.mode & 0o077 & ~mode
  if (tooMuch !== 0) {
    const narrow = found.mode & 0o7777 & ~tooMuch
    return fault(subject, `${path} is open to other users.`, `chmod ${octal} ${path}`, () => chmodSync(path, narrow))
  }
  if (!isWritable(path)) return fault(subject, `This user cannot write to ${path}.`, `chown ${userName()} ${path}`)
  if (found.uid !== process.getuid?.()) {
    const advice = 'Run doctor as the user of the service, or make that user the owner of the folder.'
    return warning(subject, `${path} belongs to another user (${found.uid}) than the user of doctor.`, advice)
  }
  return ok(subject, `${path} exists, is writable and is closed to other users.`)
}

/** Checks that Drawbridge can write to a folder of the administrator. */
export const examineWritable = (subject: string, path: string): Finding =>
  isWritable(path)
    ? ok(subject, `${path} is writable.`)
    : fault(subject, `This user cannot write to ${path}.`, `Give the user ${userName()} write permission on ${path}.`)

/** Checks that Drawbridge can read a folder of the administrator. */
export const examineReadable = (subject: string, path: string): Finding =>
  may(path, constants.R_OK | constants.X_OK)
    ? ok(subject, `${path} is readable.`)
    : fault(
        subject,
        `${path} cannot be read.`,
        `Give the user ${userName()} read permission on the folder, or remove it from the configuration.`,
      )

const isWritable = (path: string): boolean => may(path, constants.W_OK | constants.X_OK)

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

const userName = (): string => String(process.getuid?.() ?? 'of the service')

export interface ExaminedStore {
  /** Undefined for PostgreSQL. */
  readonly file: string | undefined
  /** The version of its schema. Rejects when the store does not answer. Changes nothing. */
  readonly version: () => Promise<number>
  /** The schema versions that this program upgrades or knows. */
  readonly oldest: number
  readonly newest: number
  /** Throws if the key of its secrets cannot be used. Makes none. */
  readonly assertKey: () => void
  /** It is on another machine whose certificate is not checked. */
  readonly isUnverified: boolean
}

/**
 * Whether a URL of PostgreSQL leads to another machine whose certificate is not checked. A machine in between could read the
 * password and everything in the store.
 */
export function isUnverifiedRemote(url: string): boolean {
  const { hostname, searchParams } = new URL(url)
  const host = (searchParams.get('host') ?? decodeURIComponent(hostname)).replace(/^\[|\]$/g, '')
  const isHere =
    host === '' ||
    host.startsWith('/') ||
    host === 'localhost' ||
    host === '::1' ||
    (isIPv4(host) && host.startsWith('127.'))
  return !isHere && searchParams.get('sslmode') !== 'verify-full'
}

/** Whether the store exists. The first start creates the SQLite store. */
export const isThere = ({ file }: Pick<ExaminedStore, 'file'>): boolean => file === undefined || existsSync(file)

export async function examineStore(store: ExaminedStore): Promise<Finding[]> {
  const found = [await examineAnswer(store), ...examineKey(store)]
  if (!store.isUnverified) return found
  const sentence =
    'PostgreSQL is on another machine, and its certificate is not checked: the connection can be read and changed on the way.'
  return [
    ...found,
    warning(
      'store',
      sentence,
      'Add sslmode=verify-full to the URL of the store, and sslrootcert=FILE for an own authority.',
    ),
  ]
}

/** A service that cannot read its key does not start. */
function examineKey({ assertKey }: ExaminedStore): Finding[] {
  try {
    assertKey()
    return []
  } catch (error) {
    return [
      fault('store', `Its key cannot be used: ${reasonOf(error)}`, 'Restore the file storeKeyFile from a backup.'),
    ]
  }
}

async function examineAnswer(store: ExaminedStore): Promise<Finding> {
  const { file, version, oldest, newest } = store
  const subject = 'store'
  const name = file ?? 'PostgreSQL'
  if (!isThere(store)) return ok(subject, `${name} does not exist yet. The first start creates it.`)
  try {
    const present = await version()
    if (present > newest) {
      const fix = 'Use that newer version again, or restore a backup from before the upgrade.'
      return fault(subject, `${name} was written by a newer Drawbridge (schema ${present}, not ${newest}).`, fix)
    }
    if (present > 0 && present < oldest) {
      const fix = 'Start the last Drawbridge before this one once, which upgrades the store, then start this one.'
      return fault(subject, `${name} is too old to be upgraded (schema ${present}, not ${oldest} or newer).`, fix)
    }
    const older = present < newest ? `; the next start upgrades it to ${newest}` : ''
    return ok(subject, `${name} answers (schema ${present}${older}).`)
  } catch (error) {
    return fault(subject, `${name} cannot be used: ${clauseOf(error)}.`, 'Check `store` in the configuration.')
  }
}
