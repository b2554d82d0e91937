import { isIP } from 'node:net'
import { EDGE_NAME } from '../../../edge/contract/visit.ts'
import type { ListenPlace, ServedHost, ServerBlock, ServerMatch } from '../../../edge/served.ts'
import { parseName } from '../../../model/dns-name.ts'
import type { Slices } from '../../../primitives/slices.ts'
import { StepBudget } from '../patterns/pattern.ts'
import { impliedListening, type Listening } from '../text/listen.ts'
import type { ServerDraft } from '../text/statements.ts'
import { type HttpBlock, MAX_PLACES } from './http-block.ts'
import { type HttpContext, portsOf, proxying } from './proxying.ts'
import { serverNameOf } from './server-routes.ts'
import { placeOf, type Socket, Sockets } from './sockets.ts'
import { ValueMap } from './value-map.ts'

/** The kind of the files with the lines of a map from host to backend. */
export const BACKENDS = 'backends'

/** What the gathered files of our generation say about a host. */
export interface GatheredHost {
  /** The kinds of files that have its name. */
  readonly kinds: readonly string[]
  readonly backend: string | undefined
  /** The path to show to a person. */
  readonly path: string
  readonly line: number
}

export type GatheredHosts = ReadonlyMap<string, GatheredHost>

/** Answers which server serves a host. The hosts of the gathered files are given with each question. */
export class ServerIndex {
  readonly #sockets = new Sockets()
  readonly #listening: (server: ServerDraft) => readonly Listening[]
  readonly #context: Omit<HttpContext, 'gathered' | 'budget'>
  /** The sockets at which a server has the exact name. */
  readonly #byName = new Map<string, Socket[]>()
  #gathered: readonly Socket[] = []
  readonly #gatheredPlaces = new Map<ServerDraft, readonly ListenPlace[]>()
  readonly #places = new SharedPlaces()

  private constructor({ upstreams }: HttpBlock, maps: HttpContext['maps'], isRoot: boolean) {
    this.#listening = ({ listen }) => (listen.length > 0 ? listen : [impliedListening(isRoot)])
    this.#context = { upstreams, maps, resolved: new Map() }
  }

  /** `isRoot`: whether nginx runs as root. */
  static async build(http: HttpBlock, isRoot: boolean, slices: Slices): Promise<ServerIndex> {
    const maps = new Map<string, ValueMap>()
    for (const [variable, text] of http.maps) maps.set(variable, await ValueMap.inSlices(text, slices))
    const index = new ServerIndex(http, maps, isRoot)
    for (const server of http.servers) {
      await index.#sockets.add(server, index.#listening(server), slices)
      if (slices.isOver) await slices.next()
    }
    index.#gathered = [...index.#sockets.all()].filter(({ gathered }) => gathered.length > 0)
    for (const socket of index.#sockets.all()) {
      for (const name of hostNamesOf(socket)) {
        const sockets = index.#byName.get(name)
        if (sockets) sockets.push(socket)
        else if (isHostName(name)) index.#byName.set(name, [socket])
        if (slices.isOver) await slices.next()
      }
    }
    return index
  }

  /** All exact names outside the gathered files. */
  names(): Iterable<string> {
    return this.#byName.keys()
  }

  /** If one server proxies and another redirects, it is the server that proxies. */
  served(host: string, own: GatheredHosts, budget: StepBudget): ServedHost | undefined {
    const servers = new Set<ServerDraft>()
    const listen: ListenPlace[] = []
    const isGathered = isIn(own)
    for (const socket of this.#socketsOf(host, own)) {
      const server = this.#sockets.exact(socket, host, isGathered)
      if (!server) continue
      servers.add(server)
      if (listen.length < MAX_PLACES) listen.push(placeOf(socket, server))
    }
    const [block] = [...servers]
      .map((server) => this.#blockOf(server, host, own, budget))
      .sort((a, b) => weight(b) - weight(a))
    return block && hostOf(host, block, this.#places.of(listen))
  }

  answers(
    host: string,
    { address, port, tls }: { readonly address: string; readonly port: number; readonly tls: boolean },
    own: GatheredHosts,
  ): ServerMatch | undefined {
    const socket = this.#sockets.at(address, port)
    return socket && socket.isTls === tls ? this.#answerAt(socket, host, own) : undefined
  }

  /** The answers at the socket with exactly this address, and at the more specific sockets that take connections from it. */
  answersNear(host: string, address: string, port: number, own: GatheredHosts) {
    const { same, nearer } = this.#sockets.reachedBy(address, port)
    const answerAt = (socket: Socket) => ({ ...this.#answerAt(socket, host, own), address: socket.address })
    return { same: same && answerAt(same), nearer: nearer.map(answerAt) }
  }

  #answerAt(socket: Socket, host: string, own: GatheredHosts): ServerMatch {
    const match = this.#sockets.match(socket, host, isIn(own))
    return { how: match?.how ?? 'default', block: this.#blockOf(match?.value ?? socket.defaultServer, host, own) }
  }

  #socketsOf(host: string, own: GatheredHosts): readonly Socket[] {
    const named = this.#byName.get(host) ?? []
    if (!own.has(host)) return named
    if (named.length === 0) return this.#gathered
    return [...new Set([...named, ...this.#gathered])].sort((a, b) => a.number - b.number)
  }

  /** Cached, because servers with gathered names are looked up for thousands of hosts. */
  #placesOf(server: ServerDraft): readonly ListenPlace[] {
    const known = this.#gatheredPlaces.get(server)
    if (known) return known
    const places = this.#sockets.placesOf(server, this.#listening(server).slice(0, MAX_PLACES))
    if (server.gathered.length > 0) this.#gatheredPlaces.set(server, places)
    return places
  }

  #blockOf(server: ServerDraft, host: string, own: GatheredHosts, budget = new StepBudget()): ServerBlock {
    const { path, line, names } = server
    const listen = this.#placesOf(server)
    const tls = listen.some((place) => place.tls)
    const scheme = !tls ? 'http' : listen.every((place) => place.tls) ? 'https' : undefined
    const gathered = (kind: string, key: string) => (kind === BACKENDS ? own.get(key)?.backend : undefined)
    const { proxyPass, unresolved, target, furtherTargets } = proxying(
      server.routes?.get(host) ?? server.route,
      { host, serverName: serverNameOf(server), scheme, ...portsOf(host, listen) },
      { ...this.#context, gathered, budget },
    )
    const place = server.gathered.length > 0 ? own.get(host) : undefined
    return {
      configPath: place?.path ?? path,
      line: place?.line ?? line,
      names,
      listen,
      tls,
      proxyPass,
      unresolved,
      target,
      furtherTargets,
    }
  }
}

function* hostNamesOf({ names, longNames }: Socket): Iterable<string> {
  for (const [name] of names.exactNames()) yield name
  yield* longNames.keys()
}

const isIn =
  (own: GatheredHosts) =>
  (kind: string, host: string): boolean =>
    own.get(host)?.kinds.includes(kind) ?? false

function hostOf(host: string, block: ServerBlock, listen: readonly ListenPlace[]): ServedHost {
  const { configPath, line, proxyPass, unresolved, target, furtherTargets } = block
  const tls = listen.some((place) => place.tls)
  return {
    host,
    configPath,
    line,
    listen,
    tls,
    proxyPass,
    unresolved,
    target,
    furtherTargets,
  }
}

/** Shares equal lists: thousands of hosts use the same few places. */
class SharedPlaces {
  readonly #known = new Map<string, readonly ListenPlace[]>()

  of(listen: readonly ListenPlace[]): readonly ListenPlace[] {
    let key = ''
    for (const { address, port, defaultServer, quic } of listen) key += `${address} ${port} ${defaultServer} ${quic},`
    const known = this.#known.get(key) ?? listen.toSorted(plainFirst)
    this.#known.set(key, known)
    return known
  }
}

const plainFirst = (a: ListenPlace, b: ListenPlace): number => Number(a.tls) - Number(b.tls)

/** Prefers a block that proxies, then a block with TLS. */
const weight = ({ proxyPass, unresolved, tls }: ServerBlock): number =>
  (proxyPass !== null || unresolved ? 2 : 0) + (tls ? 1 : 0)

/**
 * False for `_`, IP addresses and other names that are not DNS names, and for the name of the edge itself. Accepts underscores: an
 * exposed host may not have one, but visitors, DNS servers and nginx accept them.
 */
const isHostName = (name: string): boolean => isDnsName(name) && isIP(name) === 0 && name !== EDGE_NAME

const isDnsName = (name: string): boolean => {
  if (!name.includes('_')) return parseName(name) === name
  const alike = name.replaceAll('_', 'x')
  return name.includes('.') && parseName(alike) === alike
}
