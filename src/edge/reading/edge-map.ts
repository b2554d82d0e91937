import type { EdgeMap, ServerBlock, ServerMatch } from './contract.ts'
import type { HttpBlock } from './http-block.ts'
import type { Included } from './included.ts'
import { impliedListening, type Listening } from './listen.ts'
import { proxying } from './proxying.ts'
import { servedHosts } from './served-hosts.ts'
import type { ServerDraft } from './server-draft.ts'
import { patternOf, Sockets } from './sockets.ts'

/** Who answers for which name, from all that was read. */
export function edgeMap(http: HttpBlock, included: Included, isRoot: boolean): EdgeMap {
  const sockets = new Sockets()
  const listening = (server: ServerDraft): readonly Listening[] =>
    server.listen.length > 0 ? server.listen : [impliedListening(isRoot)]
  for (const server of http.servers) {
    sockets.add(server, listening(server))
    if (server.names.some((name) => name.startsWith('~') && !patternOf(name))) {
      included.report(server.path, server.line, 'a regular expression for its names is not understood here')
    }
  }
  const blockFor = (server: ServerDraft, host?: string): ServerBlock => {
    const listen = sockets.placesOf(server, listening(server))
    const names = server.names.map((name) => name.toLowerCase())
    const scheme = listen.every(({ tls }) => tls) ? 'https' : listen.some(({ tls }) => tls) ? undefined : 'http'
    return {
      configPath: server.path,
      line: server.line,
      names,
      listen,
      tls: listen.some(({ tls }) => tls),
      ...proxying(server.passing, { host, serverName: names[0] ?? '', scheme }, http),
    }
  }
  for (const server of http.servers) blockFor(server) // Reads the maps that they need.
  const hosts = servedHosts(sockets, blockFor)
  const byName = new Map(hosts.map((served) => [served.host, served]))
  return {
    hosts,
    find: (host) => byName.get(canonicalHost(host)),
    answers(host, { address, port, tls }): ServerMatch | undefined {
      const socket = sockets.at(address, port)
      if (!socket || socket.isTls !== tls) return undefined
      const name = canonicalHost(host)
      const match = socket.names.find(name)
      const block = blockFor(match?.value ?? socket.defaultServer, name)
      return { how: match?.how ?? 'default', block }
    },
    broken: included.broken(),
  }
}

const canonicalHost = (host: string): string => host.toLowerCase().replace(/\.$/, '')
