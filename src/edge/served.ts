import type { BackendProtocol } from '../model/evidence.ts'

/** Where a server block listens. `tls` belongs to the address and port: `ssl` in one block applies to all blocks there. */
export interface ListenPlace {
  /** `*`, `127.0.45.23`, `[::]`, `unix:…`, or a host name, whose address only nginx knows. */
  readonly address: string
  /** Null for a unix socket. */
  readonly port: number | null
  readonly tls: boolean
  readonly defaultServer: boolean
  /** Visitors come through a proxy that speaks the PROXY protocol. Belongs to the address and port, like `tls`. Absent: they do not. */
  readonly proxyProtocol?: true
  /** Only QUIC, which uses UDP, reaches it. Absent: TCP does. */
  readonly quic?: true
}

export interface ProxyTarget {
  readonly protocol: BackendProtocol
  readonly host: string
  readonly port: number
}

/** Where a block sends requests for `/`: by `proxy_pass`, `fastcgi_pass`, `uwsgi_pass`, `scgi_pass`, `grpc_pass` or `memcached_pass`. */
export interface Proxying {
  /** Such as `http://192.168.45.25:3000` or `fastcgi://unix:/run/php.sock`, without a path; null without a backend, or when `unresolved`. */
  readonly proxyPass: string | null
  /** The backend depends on the request, or cannot be told from the configuration. */
  readonly unresolved: boolean
  /** Null when `proxyPass` is null, and for a unix socket. */
  readonly target: ProxyTarget | null
  /** How many further servers the upstream has. `target` is the first one. */
  readonly furtherTargets: number
}

export interface ServerBlock extends Proxying {
  /**
   * The path with which nginx opens the file, and the line of `server`. For a host of the edge's generation the line of its own
   * entry, with a path that is the same in every generation.
   */
  readonly configPath: string
  readonly line: number
  /** In lower case; empty for a block without `server_name`. */
  readonly names: readonly string[]
  readonly listen: readonly ListenPlace[]
  /** Whether at least one of its places uses TLS. */
  readonly tls: boolean
}

/** One host and its block. If one block proxies and another redirects, it is the block that proxies. */
export interface ServedHost extends Omit<ServerBlock, 'names'> {
  /** An exact server_name, canonical: lower case, no trailing dot. */
  readonly host: string
}

/** A name of a server block that stands for many hosts: `*.example.org`, `.example.org`, `www.*`, or a pattern (`~…`). */
export interface ServedPattern {
  readonly name: string
  readonly kind: 'wildcard' | 'pattern'
  readonly configPath: string
  readonly line: number
  readonly tls: boolean
}

export interface ServerMatch {
  /** `unknown`: a pattern of the block cannot be evaluated here and might match. Otherwise another block answers. */
  readonly how: 'exact' | 'leading_wildcard' | 'trailing_wildcard' | 'regex' | 'default' | 'unknown'
  readonly block: ServerBlock
}

/**
 * A part of the configuration that the reader does not understand. nginx may still load it. The sentence never contains text of the
 * configuration.
 */
export interface BrokenPlace {
  readonly path: string
  readonly line: number | null
  readonly sentence: string
}

/** A directive that makes nginx log at debug level. `line` is null for the command line. */
export interface DebugLog {
  readonly path: string
  readonly line: number | null
}

/** What an edge serves, as its configuration on disk says. Lookups do not read files. */
export interface ServedMap {
  /** Sorted by name. Each name occurs once. */
  readonly hosts: readonly ServedHost[]
  find(host: string): ServedHost | undefined
  /** In the order of the configuration, at most 1,000. Absent: not known. */
  readonly patterns?: readonly ServedPattern[]
  readonly broken: readonly BrokenPlace[]
  /** Those of the files that are read: in the main, events and http contexts. */
  readonly debugLogs: readonly DebugLog[]
  /** Differs when a file or folder that was read has changed. Only valid for the same reader. */
  readonly fingerprint: string
  /** The time of the latest change of these files in milliseconds; infinite when one of them is missing. */
  readonly changedAt: number
}

/** The same with the servers behind it. */
export interface EdgeMap extends ServedMap {
  /** The block that nginx would choose. Undefined when no block listens at that place with the same `tls`. */
  answers(
    host: string,
    place: { readonly address: string; readonly port: number; readonly tls: boolean },
  ): ServerMatch | undefined
  /**
   * The blocks outside the files that `own` accepts that would answer requests for the host at this place instead of a new block for the
   * host. nginx uses the first of two equal names, and prefers a socket for one address to a socket for all addresses.
   */
  rivals(
    host: string,
    own: (path: string) => boolean,
    place: { readonly address: string; readonly port: number },
  ): readonly Rival[]
}

export interface Rival extends ServerMatch {
  /** The address of the socket, in the form of `ListenPlace`. */
  readonly address: string
}

export interface EdgeReader<Map extends ServedMap = EdgeMap> {
  /**
   * The configuration at the time of the call or later. Resolves with the same object while no file has changed. Never
   * rejects for a broken configuration: the unreadable parts are in `broken`.
   */
  read(): Promise<Map>
}
