import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface SocketOwner {
  readonly pid: number
  readonly program: string
}

/** Who listens there, or on all addresses; nobody when it cannot be told (another user's process, say). */
export function socketOwners(address: string, port: number): SocketOwner[] {
  const sockets = new Set(['tcp', 'tcp6', 'udp', 'udp6'].flatMap((table) => socketsOn(address, port, table)))
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && filesOf(pid).some((file) => sockets.has(file)))
    .map((pid) => ({ pid, program: programOf(pid) }))
}

/** As /proc/PID/fd links to them: `socket:[INODE]`. The columns are those of proc(5). */
function socketsOn(address: string, port: number, table: string): string[] {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  const hexAddress = Buffer.from(address.split('.').map(Number).reverse()).toString('hex').toUpperCase()
  const wanted = new RegExp(`^(0+|.*${hexAddress}):${hexPort}$`)
  const rows = readOrEmpty(`/proc/net/${table}`).split('\n').slice(1)
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, local, remote]) => wanted.test(local ?? '') && remote?.endsWith(':0000'))
    .map((columns) => `socket:[${columns[9]}]`)
}

const filesOf = (pid: number): string[] =>
  orElse([], () => readdirSync(`/proc/${pid}/fd`)).map((fd) => orElse('', () => readlinkSync(`/proc/${pid}/fd/${fd}`)))

const programOf = (pid: number): string => readOrEmpty(`/proc/${pid}/comm`).trim() || 'a program'

const readOrEmpty = (file: string): string => orElse('', () => readFileSync(file, 'utf8'))

/** Processes and their files come and go while one looks. */
function orElse<T>(fallback: T, read: () => T): T {
  try {
    return read()
  } catch {
    return fallback
  }
}
