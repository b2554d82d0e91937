import { parseAddress } from '../../../model/address.ts'
import { addressesOf } from './hosts-file.ts'

/** One address and port of a `listen` directive. Other blocks may add options for the same address and port. */
export interface ListenLine {
  /** `*`, `127.0.45.23`, `[::]`, `unix:…`, or a host name, whose address only nginx knows. */
  readonly address: string
  /** Null for a unix socket. */
  readonly port: number | null
  readonly isTls: boolean
  readonly isDefault: boolean
  /** An IPv6 socket that accepts IPv4, too. */
  readonly isDual: boolean
  /** Visitors come through a proxy that speaks the PROXY protocol. */
  readonly isProxied: boolean
}

export interface Listening extends ListenLine {
  /** TLS only because of `ssl on`. It counts only where the server is the default server. */
  readonly isTlsOfServer?: boolean
  /** The server has only QUIC, which uses UDP: no TCP connection reaches it. */
  readonly isQuic?: boolean
  /** The last port of a range that is not written out yet. */
  readonly lastPort?: number
}

const DEFAULT_PORT = 80

const PORT_ONLY = /^()(\d+)(?:-(\d+))?$/
const ADDRESS = /^(\[[^\]]*\]|[^:[\]]+)(?::(\d+)(?:-(\d+))?)?$/

/** A cache: thousands of servers listen on the same few places. */
const known = new Map<string, readonly Listening[]>()
const MAX_KNOWN = 1000

/** The places of all `listen` directives of a server. `isTls`: the server has `ssl on`. */
export function parseListens(listens: readonly (readonly string[])[], isTls: boolean): readonly Listening[] {
  const key = [isTls, ...listens.map((args) => args.join(' '))].join(';')
  const places = known.get(key) ?? (isTls ? withSslOn(placesOf(listens)) : placesOf(listens))
  if (known.size < MAX_KNOWN) known.set(key, places)
  return places
}

/** The places of a server with `ssl on`. */
export const withSslOn = (listen: readonly Listening[]): readonly Listening[] =>
  listen.map((place) => (place.isTls ? place : { ...place, isTls: true, isTlsOfServer: true }))

/** QUIC places count only if the server has no other places. */
function placesOf(listens: readonly (readonly string[])[]): readonly Listening[] {
  const places = listens.flatMap(placesIn)
  const tcp = places.filter(({ isQuic }) => !isQuic)
  return tcp.length > 0 ? tcp : places
}

function placesIn([place = '', ...options]: readonly string[]): Listening[] {
  const isQuic = options.includes('quic')
  const traits = {
    ...(isQuic && { isQuic }),
    isTls: isQuic || options.includes('ssl'),
    isDefault: options.includes('default_server') || options.includes('default'),
    isDual: options.includes('ipv6only=off'),
    isProxied: options.includes('proxy_protocol'),
  }
  if (place.startsWith('unix:')) return [{ address: place, port: null, ...traits }]
  const [, named = '', low, high] = PORT_ONLY.exec(place) ?? ADDRESS.exec(place) ?? []
  const port = Number(low ?? DEFAULT_PORT)
  const lastPort = Math.min(Number(high ?? port), MAX_PORT)
  if (lastPort < port) return []
  const addresses = isName(named) ? addressesOf(named.toLowerCase()) : [canonicalAddress(named)]
  return addresses.map((address) => ({ address, port, ...traits, ...(lastPort > port && { lastPort }) }))
}

const isName = (text: string): boolean => /^[a-z0-9_.-]*[a-z_-][a-z0-9_.-]*$/i.test(text)

const MAX_PORT = 65_535

/** Expands ranges to one place per port while `ports.left` lasts. After that, a range gets only its first port. */
export function withEveryPort(listen: readonly Listening[], ports: { left: number }): readonly Listening[] {
  if (listen.every(({ lastPort }) => lastPort === undefined)) return listen
  return listen.flatMap(({ lastPort, ...place }) => {
    const { port } = place
    if (port === null || lastPort === undefined) return [place]
    const count = Math.max(1, Math.min(lastPort - port + 1, ports.left))
    ports.left -= lastPort - port + 1
    return Array.from({ length: count }, (_, i) => ({ ...place, port: port + i }))
  })
}

/** The place of a server without `listen`. Only root can use port 80. */
export const impliedListening = (isRoot: boolean): Listening => ({
  address: '*',
  port: isRoot ? DEFAULT_PORT : 8000,
  isTls: false,
  isDefault: false,
  isDual: false,
  isProxied: false,
})

/** One spelling per address: `*`, an empty text and `0.0.0.0` all mean every IPv4 address. */
export function canonicalAddress(text: string): string {
  if (text === '' || text === '*' || text === '0.0.0.0') return '*'
  if (text === 'localhost') return '127.0.0.1'
  const address = parseAddress(text.replace(/^\[(.*)\]$/, '$1'))
  if (address === undefined) return text.toLowerCase()
  return address.includes(':') ? `[${address}]` : address
}
