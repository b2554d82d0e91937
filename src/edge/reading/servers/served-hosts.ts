import { isIP } from 'node:net'
import { parseName } from '../../../model/dns-name.ts'
import type { ListenPlace, ServedHost, ServerBlock } from '../contract.ts'
import type { ServerDraft } from '../text/statements.ts'
import { placeOf, type Sockets } from './sockets.ts'

interface Serving {
  readonly servers: ServerDraft[]
  readonly listen: ListenPlace[]
}

/** Every exact name that nginx serves, sorted. */
export function servedHosts(
  sockets: Sockets,
  blockFor: (server: ServerDraft, host: string) => ServerBlock,
): ServedHost[] {
  const hosts: ServedHost[] = []
  const places = new SharedPlaces()
  for (const [host, { servers, listen }] of servings(sockets)) {
    if (!isHostName(host)) continue
    const [block] = servers.map((server) => blockFor(server, host)).sort((a, b) => weight(b) - weight(a))
    if (block) hosts.push(hostOf(host, block, places.of(listen)))
  }
  return hosts.sort((a, b) => (a.host < b.host ? -1 : 1))
}

function servings(sockets: Sockets): Map<string, Serving> {
  const found = new Map<string, Serving>()
  for (const socket of sockets.all()) {
    for (const [name, server] of socket.names.exactNames()) {
      const serving = found.get(name)
      const place = placeOf(socket, server)
      if (!serving) found.set(name, { servers: [server], listen: [place] })
      else {
        serving.listen.push(place)
        if (!serving.servers.includes(server)) serving.servers.push(server)
      }
    }
  }
  return found
}

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
    const sorted = listen.toSorted(plainFirst)
    const key = sorted.map(({ address, port, defaultServer }) => `${address} ${port} ${defaultServer}`).join()
    const known = this.#known.get(key) ?? sorted
    this.#known.set(key, known)
    return known
  }
}

const plainFirst = (a: ListenPlace, b: ListenPlace): number => Number(a.tls) - Number(b.tls)

/** Prefers a block that proxies, then a block with TLS. */
const weight = ({ proxyPass, unresolved, tls }: ServerBlock): number =>
  (proxyPass !== null || unresolved ? 2 : 0) + (tls ? 1 : 0)

/** False for `_`, IP addresses and other names that are not DNS names. */
const isHostName = (name: string): boolean => parseName(name) === name && isIP(name) === 0
