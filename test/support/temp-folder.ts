import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TempFolder extends Disposable {
  readonly path: string
}

/** A folder of a test's own. Others may walk through it: servers that give up root must reach theirs inside. */
export function tempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), 'drawbridge-test-'))
  chmodSync(path, 0o711)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
