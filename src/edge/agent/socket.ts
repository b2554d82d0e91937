import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'
import { dirname } from 'node:path'

export interface SocketSetting {
  readonly path: string
  /** The name or the number of the group whose members may connect. Undefined: only the user of the agent may. */
  readonly group: string | undefined
}

/**
 * Listens on a unix socket to which only the user of the agent and one group may connect. Node cannot identify the peer, so the
 * mode of the socket decides: Linux requires write permission. No other user may replace the socket, because no other user may
 * write to its folder.
 */
export async function listenOnSocket(server: Server, { path, group }: SocketSetting): Promise<void> {
  const gid = group === undefined ? undefined : groupId(group)
  const folder = dirname(path)
  if (mkdirSync(folder, { recursive: true, mode: 0o750 })) {
    chmodSync(folder, 0o750)
    if (gid !== undefined) chownSync(folder, process.getuid?.() ?? 0, gid)
  }
  assertPrivate(folder)
  removeLeft(path)
  const former = process.umask(0o177)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, () => {
        server.off('error', reject)
        resolve()
      })
    })
  } finally {
    process.umask(former)
  }
  if (gid === undefined) return
  chownSync(path, process.getuid?.() ?? 0, gid)
  chmodSync(path, 0o660)
}

function assertPrivate(folder: string): void {
  const { mode, uid } = lstatSync(folder)
  const isOurs = uid === 0 || uid === process.getuid?.()
  // In a folder with the sticky bit only the owner may replace a file.
  const isSticky = (mode & 0o1000) !== 0
  if (isOurs && ((mode & 0o022) === 0 || isSticky)) return
  throw new Error(
    `Others than the agent may write to ${folder}, so they could replace its socket. Run: chmod go-w ${folder}`,
  )
}

/** Removes the socket of a killed agent. The lock on the edge's folder proves that no other agent runs. */
function removeLeft(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isSocket()) throw new Error(`${path} is not a socket. Move it away, or choose another path.`)
  rmSync(path)
}

function groupId(group: string): number {
  if (/^\d+$/.test(group)) return Number(group)
  const line = readFileSync('/etc/group', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${group}:`))
  const id = Number(line?.split(':')[2])
  if (line !== undefined && Number.isSafeInteger(id)) return id
  throw new Error(`There is no group ${group} on this machine. Run: groupadd --system ${group}`)
}
