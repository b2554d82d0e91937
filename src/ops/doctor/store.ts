import { existsSync } from 'node:fs'
import { type Finding, fault, ok, reasonOf } from './finding.ts'

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
