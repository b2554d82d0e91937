import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync, type Stats } from 'node:fs'
import { type Finding, fault, ok, reasonOf, warning } from './finding.ts'

/** A folder of ours. `mode` is the widest it may be. */
export interface OwnFolder {
  readonly subject: string
  readonly path: string
  readonly mode: number
}

/** There, a folder and no link, writable for us, and open to nobody it should not be. */
export function examineFolder({ subject, path, mode }: OwnFolder): Finding {
  const octal = mode.toString(8).padStart(4, '0')
  const found = lookAt(path)
  if (!found) {
    return fault(subject, `${path} is not there.`, `mkdir -p -m ${octal} ${path}`, () => {
      mkdirSync(path, { recursive: true, mode })
      chmodSync(path, mode)
    })
  }
  if (!found.isDirectory()) return fault(subject, `${path} is not a folder.`, `Move away what stands at ${path}.`)
  const tooMuch = found.mode & 0o077 & ~mode
  if (tooMuch !== 0) {
    const narrow = found.mode & 0o7777 & ~tooMuch
    return fault(subject, `${path} is open to others.`, `chmod ${octal} ${path}`, () => chmodSync(path, narrow))
  }
  if (!isWritable(path)) return fault(subject, `${path} is not writable for this user.`, `chown ${userName()} ${path}`)
  if (found.uid !== process.getuid?.()) {
    const advice = 'Run doctor as the user that the service runs as, or give that user the folder.'
    return warning(subject, `${path} belongs to another user (${found.uid}) than the one that runs doctor.`, advice)
  }
  return ok(subject, `${path} is there, writable and closed to others.`)
}

/** A folder of the administrator's in which we must be able to write. */
export const examineWritable = (subject: string, path: string): Finding =>
  isWritable(path)
    ? ok(subject, `${path} is writable.`)
    : fault(subject, `${path} is not writable for this user.`, `Let the user ${userName()} write there.`)

/** A folder of the administrator's that we only read. */
export const examineReadable = (subject: string, path: string): Finding =>
  may(path, constants.R_OK | constants.X_OK)
    ? ok(subject, `${path} is readable.`)
    : fault(
        subject,
        `${path} cannot be read.`,
        `Make the folder readable for the user ${userName()}, or take it out of the configuration.`,
      )

function lookAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

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
  /** The version of its schema; rejects when the store cannot be reached. Changes nothing. */
  readonly version: () => Promise<number>
  /** The newest schema that this program knows. */
  readonly newest: number
}

export async function examineStore({ file, version, newest }: ExaminedStore): Promise<Finding> {
  const subject = 'store'
  const name = file ?? 'PostgreSQL'
  if (file !== undefined && !existsSync(file)) return ok(subject, `${name} is made at the first start.`)
  try {
    const present = await version()
    if (present > newest) {
      const fix = 'Start that newer version again, or restore a backup from before the upgrade.'
      return fault(subject, `${name} was written by a newer Drawbridge (schema ${present}, not ${newest}).`, fix)
    }
    const older = present < newest ? `; the next start brings it to ${newest}` : ''
    return ok(subject, `${name} answers (schema ${present}${older}).`)
  } catch (error) {
    return fault(subject, `${name} cannot be used: ${reasonOf(error)}.`, 'See `store` in the configuration.')
  }
}
