import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a folder that only this user can read, and removes it with all of its content after `work`. */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-'))
  return work(folder).finally(() => rmSync(folder, { recursive: true, force: true }))
}
