import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { TestService } from './service.ts'

const databaseFile = ({ folder }: TestService): string => join(folder, 'state', 'drawbridge.db')

/** The number of stored rows, as another reader of the database sees them. */
export function stored(api: TestService): { plans: number; capabilities: number } {
  const database = new Database(databaseFile(api), { readonly: true })
  try {
    const count = (table: string) => database.prepare(`select count(*) from ${table}`).pluck().get() as number
    return { plans: count('plans'), capabilities: count('capabilities') }
  } finally {
    database.close()
  }
}

/** All bytes of the store on disk, including the write-ahead log. */
export function storedBytes(api: TestService): Buffer {
  const file = databaseFile(api)
  const files = [file, `${file}-wal`, `${file}-shm`].filter((path) => existsSync(path))
  return Buffer.concat(files.map((path) => readFileSync(path)))
}
