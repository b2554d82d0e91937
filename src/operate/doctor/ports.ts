import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer, isIPv4 } from 'node:net'
import { Client } from 'undici'
import { type Endpoint, formatEndpoint, parseAddress } from '../../model/address.ts'
import type { Clock } from '../../primitives/clock.ts'
import { type Finding, fault, ok, reasonOf } from './finding.ts'

/** An address and port of the service or of an edge. */
export interface Listener extends Endpoint {
  readonly subject: string
  /** Whether the service itself or the nginx of the edge has the port. Called only when the port is taken. */
  readonly isOurs: (owners: readonly number[]) => Promise<boolean>
}

export async function examineListener(listener: Listener, machine = new Sockets()): Promise<Finding> {
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
  const sockets = machine.listening(address, port, ['tcp']).map((socket) => machine.ownersOf(socket))
  const ours = await Promise.all(sockets.map((owners) => isOurs(owners.map(({ pid }) => pid))))
  if (ours.length > 0 && ours.every(Boolean)) return ok(subject, `Drawbridge or its nginx listens on ${place}.`)
  const [owner] = sockets.filter((_, index) => !ours[index]).flat()
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

/** The processes that take what comes to the address. Empty if unknown, such as processes of another user. */
export const socketOwners = (address: string, port: number): readonly SocketOwner[] => {
  const sockets = new Sockets()
  return sockets.listening(address, port, ['tcp', 'udp']).flatMap((socket) => sockets.ownersOf(socket))
}

/** The sockets of this machine, and the processes that have them. Each is read once: a machine may have thousands. */
export class Sockets {
  readonly #tables = new Map<string, string>()
  #owners: ReadonlyMap<string, readonly SocketOwner[]> | undefined

  ownersOf(socket: string): readonly SocketOwner[] {
    this.#owners ??= ownersBySocket()
    return this.#owners.get(socket) ?? []
  }

  /**
   * The sockets that take what comes to the address: those of the very address, or else those of all addresses. All sockets of the port
   * if the address is `0.0.0.0` or `::` and none has it. Named as /proc/PID/fd links to them: `socket:[INODE]`.
   */
  listening(address: string, port: number, protocols: readonly ('tcp' | 'udp')[]): string[] {
    return protocols.flatMap((protocol) => {
      const all = [protocol, `${protocol}6`].flatMap((table) => socketsIn(this.#table(table), port))
      const at = (wanted: string) => all.filter((one) => one.address === wanted)
      const isFourth = isIPv4(address)
      const tries = [at(address), isFourth ? at('0.0.0.0') : [], at('::')]
      if (address === '0.0.0.0' || address === '::')
        tries.splice(
          1,
          1,
          all.filter((one) => isIPv4(one.address) === isFourth),
        )
      return (tries.find(({ length }) => length > 0) ?? []).map(({ socket }) => socket)
    })
  }

  #table(name: string): string {
    const text = this.#tables.get(name) ?? readOrEmpty(`/proc/net/${name}`)
    this.#tables.set(name, text)
    return text
  }
}

function ownersBySocket(): ReadonlyMap<string, readonly SocketOwner[]> {
  const owners = new Map<string, SocketOwner[]>()
  for (const pid of readdirSync('/proc').map(Number)) {
    const sockets = pid > 0 ? filesOf(pid).filter((file) => file.startsWith('socket:')) : []
    if (sockets.length === 0) continue
    const owner = { pid, program: programOf(pid) }
    for (const socket of new Set(sockets)) owners.set(socket, [...(owners.get(socket) ?? []), owner])
  }
  return owners
}

/**
 * proc(5) describes the columns. Only sockets that wait for anybody have the remote port 0. Rows of other ports are passed over as text:
 * a busy machine has thousands.
 */
function socketsIn(table: string, port: number): { address: string; socket: string }[] {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  const rows = new RegExp(`^ *\\d+: (\\w+):${hexPort} \\w+:0000(?: +\\S+){6} +(\\d+)`, 'gm')
  return [...table.matchAll(rows)].flatMap(([, hex = '', inode]) => {
    const address = addressIn(hex)
    return address === undefined ? [] : [{ address, socket: `socket:[${inode}]` }]
  })
}

/** The kernel writes each 32 bits of an address as a number of this machine. */
function addressIn(hex: string): string | undefined {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex').reverse()])
  if (bytes.length === 4) return bytes.join('.')
  const groups = bytes
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .match(/.{4}/g)
  return groups ? parseAddress(groups.join(':')) : undefined
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
export async function isService(
  { address, port, tls }: Endpoint & { readonly tls?: unknown },
  clock: Clock,
): Promise<boolean> {
  const target = formatEndpoint({ address: EVERY_ADDRESS[address] ?? address, port })
  // The certificate does not matter for this check.
  const options = { connect: { rejectUnauthorized: false }, pipelining: 0 }
  const client = new Client(`${tls ? 'https' : 'http'}://${target}`, options)
  try {
    const signal = clock.timeout(ANSWER_MS)
    const { headers, body } = await client.request({ method: 'GET', path: '/livez', signal })
    await body.dump()
    return /^req_[0-9a-f]+$/.test(String(headers['x-request-id']))
  } catch {
    return false
  } finally {
    await client.destroy()
  }
}
