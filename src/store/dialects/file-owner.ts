import { lstatSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'

/** Why this user cannot open the file of a store that another user made. Undefined if all of its files are this user's. */
export function foreignOwner(file: string): string | undefined {
  const own = process.geteuid?.()
  const folder = dirname(file)
  for (const path of [folder, file, `${file}-wal`, `${file}-shm`]) {
    const uid = uidOf(path)
    if (uid === undefined || uid === own) continue
    const user = nameOfUser()
    return `${path} belongs to ${uid === 0 ? 'root' : `user ${uid}`}; this is user ${user}. Run: chown -R ${user}: ${folder}`
  }
  return undefined
}

function uidOf(path: string): number | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.uid
  } catch {
    // The folder is closed to this user: its own owner is told.
    return undefined
  }
}

/** Its number, where no account has it. */
function nameOfUser(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.geteuid?.())
  }
}
