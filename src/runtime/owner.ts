import { readFileSync } from 'node:fs'
import { firstOfOthers, type PathPart, partsOf, remedyFor } from './path-owners.ts'

/**
 * A process of root becomes the user who owns the folder, for good. That user could replace each file in it by a link, so that
 * root would read and write other files. A folder that does not exist yet gets the owner of its parent. Throws if somebody else
 * could exchange the folder, or the configuration `file` that names it. `asRoot` is called before root's rights are given up.
 */
export async function becomeOwner(
  folder: string,
  file: string,
  asRoot: () => Promise<void> = async () => undefined,
): Promise<void> {
  if (process.getuid?.() !== 0) return
  const parts = partsOf(folder)
  const { uid, gid } = ownerIn(parts)
  assertOfNobodyElse(parts, uid)
  assertOfNobodyElse(partsOf(file), uid)
  if (uid === 0) return
  await asRoot()
  become(uid, gid, folder)
}

/** For a command of root that uses no state folder: the process becomes the owner of the configuration, who controls its work. */
export function becomeAuthor(file: string): void {
  if (process.getuid?.() !== 0) return
  const parts = partsOf(file)
  const { uid, gid } = ownerIn(parts)
  assertOfNobodyElse(parts, uid)
  if (firstOfOthers(parts.slice(-1), 0)) become(uid, gid, file)
}

/** Throws if a process of root would use files that another user could exchange. */
export function assertOfRoot(path: string): void {
  if (process.getuid?.() === 0) assertOfNobodyElse(partsOf(path), 0)
}

const ownerIn = (parts: readonly PathPart[]) => parts.at(-1)?.stats ?? { uid: 0, gid: 0 }

function assertOfNobodyElse(parts: readonly PathPart[], owner: number): void {
  const found = firstOfOthers(parts, owner)
  if (!found) return
  throw new Error(
    `${found.path} can be changed by another user (its owner is ${found.stats.uid}), and root would act on what it leads to. ` +
      `Nothing was done. Run: ${remedyFor(found)}`,
  )
}

function become(uid: number, gid: number, path: string): void {
  const user = userWith(uid)
  // Processes of that user may send this signal. Without a handler Node would open its debugger to them, and this process has
  // root's terminal.
  process.on('SIGUSR1', () => undefined)
  try {
    if (user) initgroups(user.name, user.gid)
    else process.setgroups?.([])
    // The group of the folder may be root's.
    process.setgid?.(user?.gid ?? (gid === 0 ? uid : gid))
    process.setuid?.(uid)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(
      `${path} belongs to ${user?.name ?? `user ${uid}`}, and this process cannot become that user (${why}). ` +
        `Run: setpriv --reuid ${uid} --regid ${user?.gid ?? gid} ${user ? '--init-groups' : '--clear-groups'} drawbridge …`,
    )
  }
}

/** Node's types do not declare it. */
function initgroups(user: string, gid: number): void {
  if ('initgroups' in process && typeof process.initgroups === 'function') process.initgroups(user, gid)
  else process.setgroups?.([gid])
}

/** Undefined: the machine has no user with this number. */
function userWith(uid: number): { readonly name: string; readonly gid: number } | undefined {
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name = '', , id, group] = line.split(':')
    if (id === String(uid) && /^\d+$/.test(group ?? '')) return { name, gid: Number(group) }
  }
  return undefined
}
