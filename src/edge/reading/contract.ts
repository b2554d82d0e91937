/** Where a server block listens. `tls` is a matter of address and port: one block's `ssl` is everybody's there. */
export interface ListenPlace {
  /** `*`, `127.0.45.23`, `[::]` or `unix:…`. */
  readonly address: string
  /** Null for a unix socket. */
  readonly port: number | null
  readonly tls: boolean
  readonly defaultServer: boolean
}

export interface ProxyTarget {
  readonly protocol: 'http' | 'https'
  readonly host: string
  readonly port: number
}

/** Where a block sends what is asked of `/`. Paths are left out: only whom it asks is told. */
export interface Proxying {
  /** `http://192.168.45.25:3000`; null when the block proxies nowhere, or to where cannot be known. */
  readonly proxyPass: string | null
  /** It proxies, but to where only a request would tell. */
  readonly unresolved: boolean
  /** Null as `proxyPass` is, and for a unix socket. */
  readonly target: ProxyTarget | null
  /** Further servers of the same upstream; `target` is the first. */
  readonly furtherTargets: number
}

export interface ServerBlock extends Proxying {
  /** The file as nginx opens it, and the line of its `server`. */
  readonly configPath: string
  readonly line: number
  /** As written, in lower case; none for a block without `server_name`. */
  readonly names: readonly string[]
  readonly listen: readonly ListenPlace[]
  /** One of its places speaks TLS. */
  readonly tls: boolean
}

/** One host and the block that does the work for it, which is the one that proxies where another only redirects. */
export interface ServedHost extends Omit<ServerBlock, 'names'> {
  /** An exact server_name, canonical: lower case, no trailing dot. */
  readonly host: string
}

export interface ServerMatch {
  readonly how: 'exact' | 'leading_wildcard' | 'trailing_wildcard' | 'regex' | 'default'
  readonly block: ServerBlock
}

/** What could not be read. The sentence never holds a word of the configuration. */
export interface BrokenPlace {
  readonly path: string
  readonly line: number | null
  readonly sentence: string
}

/** An edge's configuration as it stands on disk. A lookup reads nothing. */
export interface EdgeMap {
  /** Sorted by name, each name once. */
  readonly hosts: readonly ServedHost[]
  find(host: string): ServedHost | undefined
  /** The block that nginx would choose. Undefined: nobody listens there, or not with (or without) TLS. */
  answers(
    host: string,
    place: { readonly address: string; readonly port: number; readonly tls: boolean },
  ): ServerMatch | undefined
  /**
   * The blocks that would answer visitors of this place for the host if a block outside `own` with this very name listened
   * there: of equal names the first counts, and a socket for one address comes before one for all of them.
   */
  rivals(host: string, own: string, place: { readonly address: string; readonly port: number }): readonly Rival[]
  readonly broken: readonly BrokenPlace[]
  /** The same for the same files, by their times, sizes and inodes: of all files and folders that were read. */
  readonly fingerprint: string
  /** When the youngest of them was changed, in milliseconds; infinite where one of them is missing. */
  readonly changedAt: number
}

export interface Rival extends ServerMatch {
  /** Where it listens, in the form of `ListenPlace`. */
  readonly address: string
}

export interface EdgeReader {
  /**
   * As it stood when this was called, or later. The same object as before while no file has changed. Never rejects for a
   * broken configuration: it keeps what is readable and says what is not.
   */
  read(): Promise<EdgeMap>
}
