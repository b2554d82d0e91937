import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface SocketOwner {
  readonly pid: number
  readonly program: string
}

/** Who listens on the port, on whatever address; undefined when it cannot be told (another user's process, say). */
export function socketOwner(port: number): SocketOwner | undefined {
  const sockets = new Set(['tcp', 'tcp6', 'udp', 'udp6'].flatMap((table) => socketsOn(port, table)))
  for (const pid of readdirSync('/proc').map(Number)) {
    if (pid > 0 && filesOf(pid).some((file) => sockets.has(file))) return { pid, program: programOf(pid) }
  }
  return undefined
}

/** As /proc/PID/fd links to them: `socket:[INODE]`. The columns are those of proc(5). */
function socketsOn(port: number, table: string): string[] {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  const rows = readOrEmpty(`/proc/net/${table}`).split('\n').slice(1)
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, local, remote]) => local?.endsWith(`:${hexPort}`) && remote?.endsWith(':0000'))
    .map((columns) => `socket:[${columns[9]}]`)
}

function filesOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
  } catch {
    return []
  }
}

const programOf = (pid: number): string => readOrEmpty(`/proc/${pid}/comm`).trim() || 'a program'

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
