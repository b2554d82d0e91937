import type { ListenPlace } from '../../../edge/served.ts'
import type { Slices } from '../../../primitives/slices.ts'
import { type Pattern, pattern } from '../patterns/pattern.ts'
import { canonicalAddress, type Listening } from '../text/listen.ts'
import type { ServerDraft } from '../text/statements.ts'
import { fitsHashTable, hostInServerName } from '../text/written-names.ts'
import { NameIndex, type NameMatch } from './name-index.ts'

/** Whether a host is one of the names in the gathered files of a kind. */
export type IsGathered = (kind: string, host: string) => boolean

/** One address and port, and the servers that listen there. */
export interface Socket {
  /** Sockets are numbered in the order of the configuration. */
  readonly number: number
  readonly address: string
  readonly port: number | null
  /** TCP connections do not reach it. */
  readonly isQuic: boolean
  isTls: boolean
  /** A `listen` directive says `ssl`. */
  hasSsl: boolean
  isDual: boolean
  isProxied: boolean
  defaultServer: ServerDraft
  hasChosenDefault: boolean
  readonly names: NameIndex<ServerDraft>
  /**
   * Names that are too long for nginx's hash tables and are written as patterns in our form. They are also among the patterns of
   * `names`.
   */
  readonly longNames: Map<string, ServerDraft>
  /** The servers with gathered names. */
  readonly gathered: ServerDraft[]
  /** The two possible places of a server on this socket. */
  readonly places: { default?: ListenPlace; other?: ListenPlace }
}

/** All sockets of an nginx. A connection reaches one socket, and only its servers can answer. */
export class Sockets {
  readonly #sockets = new Map<string, Socket>()
  readonly #order = new Map<ServerDraft, number>()

  /** Must be called in the order of the configuration. */
  async add(server: ServerDraft, listen: readonly Listening[], slices: Slices): Promise<void> {
    this.#order.set(server, this.#order.size)
    const patterns = server.names.filter(isPattern).map(patternOf)
    const long = server.names.map(hostInServerName).filter((name) => name !== undefined)
    for (const place of listen) {
      const { names, longNames, gathered } = this.#socketOf(place, server)
      // A server without a name has the empty name: it answers requests without a `Host`.
      if (server.names.length === 0) names.add('', server)
      for (const [index, name] of server.names.entries()) {
        if (!isPattern(name)) names.add(name, server)
        if (index % 64 === 63 && slices.isOver) await slices.next()
      }
      for (const one of patterns) names.addPattern(one, server)
      for (const name of long) if (!longNames.has(name)) longNames.set(name, server)
      if (server.gathered.length > 0) gathered.push(server)
      if (slices.isOver) await slices.next()
    }
  }

  all(): IterableIterator<Socket> {
    return this.#sockets.values()
  }

  /** The server that nginx chooses by the name. Undefined: the default server answers. */
  match(socket: Socket, name: string, isGathered: IsGathered): NameMatch<ServerDraft> | undefined {
    const exact = this.exact(socket, name, isGathered)
    const found = socket.names.find(name)
    if (!exact || fitsHashTable(name)) return exact ? { how: 'exact', value: exact } : found
    // A long name of ours is a pattern. Wildcards and earlier patterns win over it.
    const isBefore = (value: ServerDraft) => this.#numberOf(value) < this.#numberOf(exact)
    const isPatternBehind = found?.how === 'regex' || found?.how === 'unknown' ? !isBefore(found.value) : !found
    return isPatternBehind ? { how: 'exact', value: exact } : found
  }

  /** The server with exactly this name, or with a long name of ours as a pattern. */
  exact({ names, longNames, gathered }: Socket, name: string, isGathered: IsGathered): ServerDraft | undefined {
    const listed = names.exact(name) ?? longNames.get(name)
    const own = gathered.find((server) => server.gathered.some((kind) => isGathered(kind, name)))
    if (!own || !listed) return own ?? listed
    return this.#numberOf(own) < this.#numberOf(listed) ? own : listed
  }

  #numberOf(server: ServerDraft): number {
    return this.#order.get(server) ?? 0
  }

  /** A socket for one address has priority over a socket for all addresses, whatever names they serve. */
  at(address: string, port: number): Socket | undefined {
    const canonical = canonicalAddress(address)
    const own = this.#sockets.get(`${canonical}:${port}`)
    const ofSixth = this.#sockets.get(`[::]:${port}`)
    if (own || canonical.startsWith('[')) return own ?? ofSixth
    return this.#sockets.get(`*:${port}`) ?? (ofSixth?.isDual ? ofSixth : undefined)
  }

  /** The socket with exactly this address, and the more specific sockets that take connections from it. */
  reachedBy(address: string, port: number): { readonly same: Socket | undefined; readonly nearer: readonly Socket[] } {
    const canonical = canonicalAddress(address)
    const isNearer = (socket: Socket) =>
      socket.port === port &&
      !socket.isQuic &&
      socket.address !== canonical &&
      (canonical === '*' ? !socket.address.startsWith('[') : canonical === '[::]' && socket.address.startsWith('['))
    return { same: this.#sockets.get(`${canonical}:${port}`), nearer: [...this.#sockets.values()].filter(isNearer) }
  }

  /** Only valid after all servers were added. */
  placesOf(server: ServerDraft, listen: readonly Listening[]): ListenPlace[] {
    return listen
      .map((place) => this.#sockets.get(keyOf(place)))
      .filter((socket) => socket !== undefined)
      .map((socket) => placeOf(socket, server))
  }

  #socketOf(place: Listening, server: ServerDraft): Socket {
    const { isTls, isTlsOfServer = false, isDual, isDefault, isProxied } = place
    const key = keyOf(place)
    const socket = this.#sockets.get(key) ?? newSocket(this.#sockets.size, place, server)
    this.#sockets.set(key, socket)
    socket.hasSsl ||= isTls && !isTlsOfServer
    socket.isDual ||= isDual
    socket.isProxied ||= isProxied
    if (isDefault && !socket.hasChosenDefault) {
      socket.defaultServer = server
      socket.hasChosenDefault = true
    }
    if (socket.defaultServer === server) socket.isTls = isTls
    socket.isTls ||= socket.hasSsl
    return socket
  }
}

const keyOf = ({ address, port, isQuic }: Listening): string => `${isQuic ? 'quic ' : ''}${address}:${port}`

/** The first server is the default unless another one is marked as default. */
const newSocket = (number: number, { address, port, isQuic = false }: Listening, server: ServerDraft): Socket => ({
  number,
  address,
  port,
  isQuic,
  isTls: false,
  hasSsl: false,
  isDual: false,
  isProxied: false,
  defaultServer: server,
  hasChosenDefault: false,
  names: new NameIndex(),
  longNames: new Map(),
  gathered: [],
  places: {},
})

/** Servers of a socket share its two place objects. */
export function placeOf(socket: Socket, server: ServerDraft): ListenPlace {
  const { address, port, isTls, isProxied, isQuic, defaultServer, places } = socket
  const isDefault = defaultServer === server
  const kind = isDefault ? 'default' : 'other'
  const place = places[kind] ?? {
    address,
    port,
    tls: isTls,
    defaultServer: isDefault,
    ...(isProxied && { proxyProtocol: true }),
    ...(isQuic && { quic: true }),
  }
  places[kind] = place
  return place
}

const isPattern = (name: string): boolean => name.startsWith('~')

/** nginx ignores case for a pattern that contains a capital letter. */
const patternOf = (name: string): Pattern => pattern(name.slice(1), /[A-Z]/.test(name))
