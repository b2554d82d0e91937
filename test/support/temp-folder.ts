import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TempFolder extends Disposable {
  readonly path: string
}

/** A temporary folder. Every user may enter it, because servers that drop root privileges use folders inside. */
export function tempFolder(parent = tmpdir()): TempFolder {
  const path = mkdtempSync(join(parent, 'drawbridge-test-'))
  chmodSync(path, 0o711)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
