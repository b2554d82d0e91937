import { isIPv4 } from 'node:net'
import type { ListenLine } from '../../estate/reading/text/listen.ts'
import type { EdgeSettings } from '../../estate/settings.ts'

/** An address at which our servers listen, for one port. */
interface OwnSocket {
  /** As in a `listen` directive without the port: `0.0.0.0` is every IPv4 address, `::` every IPv6 address. */
  readonly address: string
  /**
   * Servers of the administrator listen at the same address and port. The default server, its TLS settings and its answer to
   * unknown names are the administrator's. Our servers answer only for their own names.
   */
  readonly isShared: boolean
}

export interface OwnSockets {
  readonly http: readonly OwnSocket[]
  readonly https: readonly OwnSocket[]
}

/**
 * The input for the text of an entry besides its record. `sockets`: where our servers listen, if that depends on other servers.
 * Default: each address of `listen`, for our servers alone. `hasHttp2`: nginx has the directive `http2`; without it HTTP/2 is an
 * option of `listen`.
 */
export type Listening = Pick<EdgeSettings, 'listen' | 'ports' | 'named'> & {
  readonly sockets?: OwnSockets | undefined
  readonly hasHttp2?: boolean
}

export const socketsOf = ({ listen, sockets }: Listening): OwnSockets => {
  const alone = listen.map((address) => ({ address, isShared: false }))
  return sockets ?? { http: alone, https: alone }
}

/** A `listen` directive of the administrator, in the order of the configuration. */
export interface ForeignListen extends ListenLine {
  readonly path: string
  readonly line: number
  /** Whether nginx reads it before our base file. */
  readonly isBefore: boolean
}

/** Why our servers cannot listen beside those of the administrator. */
export interface SocketConflict {
  readonly reason: string
  readonly fix: string
}

interface Wanted extends Pick<EdgeSettings, 'server' | 'address' | 'listen' | 'ports' | 'config'> {}

/**
 * Chooses where our servers listen so that no server of the administrator loses its visitors: nginx prefers a server that listens
 * on one address to servers that listen on all addresses. `bound`: the present sockets of our servers, as `address:port`. True if
 * our server is alone there, and is the default server.
 */
export function chooseSockets(
  wanted: Wanted,
  foreign: readonly ForeignListen[],
  bound: ReadonlyMap<string, boolean>,
): OwnSockets | SocketConflict {
  const http = socketsAt(wanted, wanted.ports.http, foreign, bound)
  const https = socketsAt(wanted, wanted.ports.https, foreign, bound)
  if ('reason' in http) return http
  if ('reason' in https) return https
  return (
    conflictIn(wanted, http, foreign, { port: wanted.ports.http, isTls: false }) ??
    conflictIn(wanted, https, foreign, { port: wanted.ports.https, isTls: true }) ?? { http, https }
  )
}

/**
 * The present sockets of our servers, where nobody knows all servers of the administrator. `present`: those of the base file, like
 * `bound`. Undefined if they are not for these addresses and ports.
 */
export function presentSockets(wanted: Wanted, present: ReadonlyMap<string, boolean>): OwnSockets | undefined {
  const { ports } = wanted
  const [http, https] = [presentAt(wanted, ports.http, present), presentAt(wanted, ports.https, present)]
  return http && https && { http, https }
}

function presentAt(
  { address: visited, listen }: Wanted,
  port: number,
  present: ReadonlyMap<string, boolean>,
): readonly OwnSocket[] | undefined {
  const has = (name: string) => present.has(`${name}:${port}`)
  const found = listen.map((address) => {
    const exact = [address, ...(isEvery(address) ? [visited] : [])].map(nginxName).filter(has)
    return exact.length > 0 ? exact : ['*', '[::]'].filter(has).slice(0, 1)
  })
  if (found.some((names) => names.length === 0)) return undefined
  return [...new Set(found.flat())].map((name) => ({
    address: plainAddress(name),
    isShared: present.get(`${name}:${port}`) === false,
  }))
}

function socketsAt(
  { server, address: visited, listen }: Wanted,
  port: number,
  foreign: readonly ForeignListen[],
  bound: ReadonlyMap<string, boolean>,
): readonly OwnSocket[] | SocketConflict {
  const here = foreign.filter((one) => one.port === port)
  const has = (address: string) => here.some((one) => one.address === address)
  // Ours is the default server: any server of the administrator came later and is not marked as default.
  const isOurs = (address: string) =>
    bound.get(`${address}:${port}`) === true && !here.some((one) => one.address === address && one.isDefault)
  const sockets = new Map<string, OwnSocket>()
  for (const address of listen.flatMap((one) => [one, ...(isEvery(one) && has(nginxName(visited)) ? [visited] : [])])) {
    const shared = [nginxName(address), ...everyAddressFor(address, here)].find(has) ?? keptFor(address, port, bound)
    if (shared !== undefined && !isOurs(shared)) sockets.set(shared, { address: plainAddress(shared), isShared: true })
    else sockets.set(nginxName(address), { address, isShared: false })
  }
  for (const { address, isShared } of sockets.values()) {
    const single = here.find((one) => isSameFamily(one.address, address))
    if (isShared || !isEvery(address) || !single || bound.has(`${nginxName(address)}:${port}`)) continue
    return {
      reason: `nginx listens on ${single.address}:${port} (${single.path}, line ${single.line}), so it cannot listen on all addresses as well`,
      fix: `Set edges.${server}.listen to single addresses.`,
    }
  }
  return [...sockets.values()]
}

/** The requirements for the administrator's servers at a shared socket. */
function conflictIn(
  { server, config }: Wanted,
  sockets: readonly OwnSocket[],
  foreign: readonly ForeignListen[],
  { port, isTls }: { readonly port: number; readonly isTls: boolean },
): SocketConflict | undefined {
  for (const { address } of sockets.filter(({ isShared }) => isShared)) {
    const there = foreign.filter((one) => one.port === port && one.address === nginxName(address))
    const [first] = there
    if (!first) continue
    const place = `${first.address}:${port} (${first.path}, line ${first.line})`
    const proxied = there.find(({ isProxied }) => isProxied)
    if (proxied)
      return {
        reason: `nginx expects the PROXY protocol on ${first.address}:${port} (${proxied.path}, line ${proxied.line}), which Drawbridge does not speak`,
        fix: `Give the hosts of Drawbridge another address in edges.${server}.listen.`,
      }
    if (there.some((one) => one.isTls) !== isTls)
      return {
        reason: `nginx serves ${isTls ? 'HTTP without TLS' : 'TLS'} on ${place}, where Drawbridge needs ${isTls ? 'TLS' : 'HTTP without TLS'}`,
        fix: `Correct edge.${isTls ? 'https' : 'http'}, or give the hosts of Drawbridge another address in edges.${server}.listen.`,
      }
    if (!there.some(({ isDefault }) => isDefault) && !first.isBefore)
      return {
        reason: `the server on ${place} is the default server only because nginx reads it first, and nginx would read Drawbridge's servers before it`,
        fix: `Move the include of Drawbridge to the end of the http block of ${config}, or add default_server to that listen directive.`,
      }
  }
  return undefined
}

/** The sockets for all addresses that accept connections to an address. */
function everyAddressFor(address: string, here: readonly ForeignListen[]): readonly string[] {
  if (!isIPv4(address)) return ['[::]']
  const isDual = here.some((one) => one.address === '[::]' && one.isDual)
  return isDual ? ['*', '[::]'] : ['*']
}

/**
 * A socket for all addresses that we shared with servers that are gone. nginx cannot listen on one of its addresses before that
 * socket is closed. Our server is now the first server there, and therefore the default server.
 */
const keptFor = (address: string, port: number, bound: ReadonlyMap<string, boolean>): string | undefined =>
  ['*', '[::]'].find((every) => isSameFamily(every, address) && bound.get(`${every}:${port}`) === false)

const isEvery = (address: string): boolean => address === '0.0.0.0' || address === '::'

const isSameFamily = (foreign: string, address: string): boolean => foreign.startsWith('[') === !isIPv4(address)

/** One spelling per address: `*`, `127.0.45.23`, `[::]`. */
export const nginxName = (address: string): string => {
  if (address === '0.0.0.0') return '*'
  return isIPv4(address) ? address : `[${address}]`
}

const plainAddress = (name: string): string => (name === '*' ? '0.0.0.0' : name.replace(/^\[|\]$/g, ''))
