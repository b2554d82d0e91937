import { chmodSync, mkdirSync, statSync } from 'node:fs'

/** Makes the folder for our own files, for us alone; an existing one that others may enter is refused. */
export function claimStateFolder(path: string): void {
  const made = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (made) chmodSync(path, 0o700)
  if (statSync(path).mode & 0o077) {
    throw new Error(`The state folder ${path} may be read by others than its owner; run: chmod 0700 ${path}`)
  }
}
