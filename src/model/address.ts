import { BlockList, isIP, isIPv4 } from 'node:net'
import type { Listen, ListenGap } from './evidence.ts'

/** An IP address in canonical spelling, or undefined. `::ffff:a.b.c.d` (in any spelling) becomes `a.b.c.d`. */
export function parseAddress(text: string): string | undefined {
  const bare = text.split('%')[0] ?? ''
  if (isIPv4(bare)) return bare
  if (isIP(bare) !== 6) return undefined
  const v6 = new URL(`http://[${bare}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(v6)
  if (!mapped) return v6
  const bits = (Number.parseInt(mapped[1] ?? '', 16) << 16) | Number.parseInt(mapped[2] ?? '', 16)
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.')
}

/** `address:port` or `[v6]:port`, the port as given or the default. */
export interface Endpoint {
  readonly address: string
  readonly port: number
}

export function parseEndpoint(text: string, defaultPort: number): Endpoint | undefined {
  const split = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text)
  const address = parseAddress(split?.[1] ?? split?.[2] ?? text)
  const port = Number(split?.[3] ?? defaultPort)
  return address && port >= 1 && port <= 65_535 ? { address, port } : undefined
}

export const formatEndpoint = ({ address, port }: Endpoint): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`

/** A set of networks in CIDR form or single addresses. The empty set contains no address. */
export class Networks {
  readonly #blocks = new BlockList()

  constructor(cidrs: readonly string[]) {
    for (const cidr of cidrs) {
      const network = parseCidr(cidr)
      if (!network) throw new Error(`${cidr} is not a network in CIDR form.`)
      this.#blocks.addSubnet(network.address, network.prefix, family(network.address))
    }
  }

  has(address: string): boolean {
    return this.#blocks.check(address, family(address))
  }
}

export function parseCidr(text: string): { address: string; prefix: number } | undefined {
  const [base = '', bits, ...rest] = text.split('/')
  const address = parseAddress(base)
  if (!address || rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined
  const widest = isIPv4(address) ? 32 : 128
  const prefix = Number(bits ?? widest)
  return prefix <= widest ? { address, prefix } : undefined
}

const family = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6')

/** The address and ports at which an edge receives requests. */
interface EdgeAddress {
  readonly address: string
  readonly ports: { readonly http: number; readonly https: number }
}

/**
 * Where a host listens: its usual port, or its first port; its own address, or the edge's address for a wildcard listen. A place
 * where the host can be asked comes before any other.
 */
export function listenAddress(listen: readonly Listen[], tls: boolean, { address, ports }: EdgeAddress): Endpoint {
  const usual = tls ? ports.https : ports.http
  const all = listen.filter((place) => place.tls === tls && place.port !== null)
  const known = all.filter(isAskable)
  const places = known.length > 0 ? known : all
  const chosen = places.find(({ port }) => port === usual) ?? places[0]
  const bare = bareAddress(chosen?.address ?? '')
  const isSingle = bare !== undefined && bare !== '0.0.0.0' && bare !== '::'
  return { address: isSingle ? bare : address, port: chosen?.port ?? usual }
}

/** Why nobody can tell where to ask for a host. Undefined: `listenAddress` tells it. */
export function listenGap(listen: readonly Listen[], tls: boolean): ListenGap | undefined {
  const places = listen.filter((place) => place.tls === tls)
  if (places.length === 0 || places.some(isAskable)) return undefined
  const known = places.filter((place) => place.port !== null && isAddressKnown(place))
  if (known.length > 0) return known.some(({ proxyProtocol }) => proxyProtocol) ? 'proxy_protocol' : 'quic'
  return places.some(({ port }) => port !== null) ? 'name' : 'unix_socket'
}

const bareAddress = (address: string): string | undefined => parseAddress(address.replace(/^\[|\]$/g, ''))

const isAddressKnown = ({ address }: Listen): boolean => address === '*' || bareAddress(address) !== undefined

const isAskable = (place: Listen): boolean =>
  place.port !== null && !place.proxyProtocol && !place.quic && isAddressKnown(place)
