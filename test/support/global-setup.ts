import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** One folder for everything temporary of all workers, so that nothing is left behind even if a worker is killed. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-tests-'))
  chmodSync(folder, 0o711)
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}
