import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { Client } from 'undici'
import { type Endpoint, formatEndpoint } from '../../model/address.ts'
import { type Finding, fault, ok, reasonOf } from './finding.ts'

/** An address and port of the service or of an edge. */
export interface Listener extends Endpoint {
  readonly subject: string
  /** Whether the service itself or the nginx of the edge has the port. Called only when the port is taken. */
  readonly isOurs: (owners: readonly number[]) => Promise<boolean>
}

export async function examineListener(listener: Listener): Promise<Finding> {
  const { subject, address, port, isOurs } = listener
  const place = formatEndpoint(listener)
  const code = await bindingError(listener)
  if (code === undefined) return ok(subject, `${place} is free.`)
  if (code === 'EADDRNOTAVAIL') {
    return fault(subject, `${address} is not an address of this machine.`, 'Correct the address in the configuration.')
  }
  if (code === 'EACCES') {
    const fix = 'Run as root, or allow the port with the capability CAP_NET_BIND_SERVICE.'
    return fault(subject, `This user may not listen on ${place}.`, fix)
  }
  if (code !== 'EADDRINUSE') return fault(subject, `Listening on ${place} failed (${code}).`, 'Read the system log.')
  const owners = socketOwners(address, port)
  if (await isOurs(owners.map(({ pid }) => pid))) return ok(subject, `Drawbridge or its nginx listens on ${place}.`)
  const [owner] = owners
  const who = owner ? `${owner.program} (pid ${owner.pid})` : 'another program'
  return fault(
    subject,
    `${place} is taken by ${who}.`,
    'Stop that program, or choose another port in the configuration.',
  )
}

function bindingError({ address, port }: Endpoint): Promise<string | undefined> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? reasonOf(error)))
    server.listen(port, address, () => server.close(() => resolve(undefined)))
  })
}

export interface SocketOwner {
  readonly pid: number
  readonly program: string
}

/** The processes that listen on the address or on all addresses. Empty if unknown, such as processes of another user. */
export function socketOwners(address: string, port: number): SocketOwner[] {
  const sockets = new Set(['tcp', 'tcp6', 'udp', 'udp6'].flatMap((table) => socketsOn(address, port, table)))
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && filesOf(pid).some((file) => sockets.has(file)))
    .map((pid) => ({ pid, program: programOf(pid) }))
}

/** The sockets as /proc/PID/fd links to them: `socket:[INODE]`. proc(5) describes the columns. */
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

/** Processes and their files can disappear during the scan. */
function orElse<T>(fallback: T, read: () => T): T {
  try {
    return read()
  } catch {
    return fallback
  }
}

const ANSWER_MS = 3_000
const EVERY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Whether a Drawbridge service answers there: /livez must answer with a request id. */
export async function isService({ address, port, tls }: Endpoint & { readonly tls?: unknown }): Promise<boolean> {
  const target = formatEndpoint({ address: EVERY_ADDRESS[address] ?? address, port })
  // The certificate does not matter for this check.
  const options = { connect: { rejectUnauthorized: false }, pipelining: 0 }
  const client = new Client(`${tls ? 'https' : 'http'}://${target}`, options)
  try {
    const signal = AbortSignal.timeout(ANSWER_MS)
    const { headers, body } = await client.request({ method: 'GET', path: '/livez', signal })
    await body.dump()
    return /^req_[0-9a-f]+$/.test(String(headers['x-request-id']))
  } catch {
    return false
  } finally {
    await client.destroy()
  }
}
