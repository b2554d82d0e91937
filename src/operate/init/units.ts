import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileOwner } from '../../primitives/durable-file.ts'

export const AGENT_UNIT = 'drawbridge-edge.service'
const FOLDERS = ['/usr/lib/systemd/system', '/etc/systemd/system']

/** Whether systemd has the unit of the agent, as after an installation of the package. */
export const hasAgentUnit = (): boolean => FOLDERS.some((folder) => existsSync(join(folder, AGENT_UNIT)))

/** As sd_booted(3) tells it. The container image has the units of the package, and no systemd. */
export const isBootedBySystemd = (): boolean => existsSync('/run/systemd/system')

/** The service runs as the user drawbridge where there is one. Only root can give a file away. */
export function serviceUser(): FileOwner | undefined {
  const [, uid, gid] = /^drawbridge:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? []
  return uid !== undefined && process.getuid?.() === 0 ? { uid: Number(uid), gid: Number(gid) } : undefined
}
