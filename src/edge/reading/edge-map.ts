import type { EdgeMap, ListenPlace, Rival, ServerBlock } from './contract.ts'
import type { HttpBlock } from './servers/http-block.ts'
import { dependsOnRequest, proxying } from './servers/proxying.ts'
import { servedHosts } from './servers/served-hosts.ts'
import { type Socket, Sockets } from './servers/sockets.ts'
import type { Trace } from './text/config-files.ts'
import type { Included } from './text/included.ts'
import { impliedListening, type Listening } from './text/listen.ts'
import type { ServerDraft } from './text/statements.ts'

/** `isRoot`: whether nginx runs as root. */
export function edgeMap(http: HttpBlock, included: Included, isRoot: boolean, trace: () => Trace): EdgeMap {
  const sockets = new Sockets()
  const listening = ({ listen }: ServerDraft): readonly Listening[] =>
    listen.length > 0 ? listen : [impliedListening(isRoot)]
  for (const server of http.servers) {
    if (sockets.add(server, listening(server))) continue
    included.report(server.path, server.line, 'a regular expression in server_name is not supported by Drawbridge')
  }
  const blockFor = (server: ServerDraft, host: string): ServerBlock =>
    blockOf(server, sockets.placesOf(server, listening(server)), http, host)
  // Reads the files of maps now, so that a lookup reads none.
  for (const server of http.servers) if (dependsOnRequest(server.proxyPass)) blockFor(server, '')
  const hosts = servedHosts(sockets, blockFor)
  const byName = new Map(hosts.map((served) => [served.host, served]))
  return {
    hosts,
    find: (host) => byName.get(canonicalHost(host)),
    answers(host, { address, port, tls }) {
      const socket = sockets.at(address, port)
      if (!socket || socket.isTls !== tls) return undefined
      const name = canonicalHost(host)
      const match = socket.names.find(name)
      return { how: match?.how ?? 'default', block: blockFor(match?.value ?? socket.defaultServer, name) }
    },
    rivals(host, own, { address, port }) {
      const name = canonicalHost(host)
      const { same, nearer } = sockets.reachedBy(address, port)
      const rivalAt = (socket: Socket): Rival => {
        const match = socket.names.find(name)
        const block = blockFor(match?.value ?? socket.defaultServer, name)
        return { how: match?.how ?? 'default', block, address: socket.address }
      }
      // On the socket of the host's own block only an equal name conflicts. On a more specific socket any block does.
      const beside = same ? [rivalAt(same)].filter(({ how }) => how === 'exact') : []
      return [...beside, ...nearer.map(rivalAt)].filter(({ block }) => block.configPath !== own)
    },
    broken: included.broken(),
    get fingerprint() {
      return trace().fingerprint
    },
    get changedAt() {
      return trace().changedAt
    },
  }
}

/** `host`: the host of the request, for variables in `proxy_pass`. */
function blockOf(server: ServerDraft, listen: readonly ListenPlace[], http: HttpBlock, host: string): ServerBlock {
  const { path, line, names, proxyPass: directive } = server
  const tls = listen.some((place) => place.tls)
  const scheme = !tls ? 'http' : listen.every((place) => place.tls) ? 'https' : undefined
  const { proxyPass, unresolved, target, furtherTargets } = proxying(
    directive,
    { host, serverName: names[0] ?? '', scheme },
    http,
  )
  return { configPath: path, line, names, listen, tls, proxyPass, unresolved, target, furtherTargets }
}

const canonicalHost = (host: string): string => host.toLowerCase().replace(/\.$/, '')
