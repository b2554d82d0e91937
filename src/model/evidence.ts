import type { BadgeFacts } from './badge.ts'
import type { HealthFact } from './finding.ts'

/** One look at a host, link by link. Facts only: what they mean is the diagnosis's business. Times are milliseconds. */
export interface Evidence {
  readonly host: string
  readonly at: number
  readonly tookMs: number
  readonly managed: boolean
  /** Which path was asked for, through the edge and of the backend. */
  readonly path: string
  readonly name: NameEvidence
  /** Whether DNS serves exactly what was applied; null where nothing was applied, or no answer to rely on came. */
  readonly records: BadgeFacts['dns']
  readonly edge: Reach
  readonly tls: TlsEvidence
  /** What somebody gets who asks the edge for the host. */
  readonly visit: VisitEvidence
  /** False: the default server of the running edge says that it has no such host. Null: that cannot be told. */
  readonly isKnown: boolean | null
  readonly block: BlockEvidence
  readonly configuration: ConfigurationEvidence
  readonly file: FileState
  readonly target: TargetEvidence
  readonly backend: BackendEvidence
  /** Null: no line about this host was found, or none could be read. */
  readonly errorClass: ErrorClass | null
  /** What the monitor knew of the host: it stands where this look could not tell. Null: nothing. */
  readonly known: BadgeFacts | null
}

/** How a TCP connection went. `unknown`: nobody asked, or there was no time left. */
export type Reach = 'open' | 'refused' | 'timeout' | 'unreachable' | 'unknown'

/** Where a name leads. `here`: to where this installation serves it. */
export type NameEvidence =
  | { readonly kind: 'here' | 'elsewhere'; readonly found: readonly string[] }
  | { readonly kind: 'missing' }
  /** The DNS server gave no answer to rely on. */
  | { readonly kind: 'uncertain'; readonly reason: string }
  /** It answers, but nobody here knows which answer would be right. */
  | { readonly kind: 'not_judged'; readonly found: readonly string[] }
  | { readonly kind: 'not_asked'; readonly why: 'zone_not_managed' | 'no_time' }

export type TlsEvidence =
  | { readonly kind: 'not_used' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'unknown' }
  | {
      readonly kind: 'certificate'
      readonly names: readonly string[]
      readonly coversHost: boolean
      readonly notBefore: number
      readonly notAfter: number
    }

export type VisitEvidence =
  | {
      readonly kind: 'answer'
      readonly httpStatus: number
      readonly latencyMs: number
      /** Whether the entry that was applied answered, or another server block; absent where that cannot be told. */
      readonly entry?: 'ours' | 'other'
    }
  | {
      readonly kind: 'no_answer'
      readonly reason: 'refused' | 'unreachable' | 'timeout' | 'handshake_refused' | 'not_http' | 'unknown_host'
    }
  | { readonly kind: 'unknown' }

/** A server block of the configuration on disk; its line is null where the file could not be understood. */
interface BlockPlace {
  readonly path: string
  readonly line: number | null
}

export interface Listen {
  /** `*`, an IP address, or a unix socket. */
  readonly address: string
  readonly port: number | null
  readonly tls: boolean
  readonly defaultServer: boolean
}

/** Whose server block answers for the host, by the configuration on disk. */
export type BlockEvidence =
  | { readonly kind: 'own' }
  | { readonly kind: 'other'; readonly how: AnsweredBy; readonly answering: BlockPlace }
  /** No block on disk answers at all. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }

type AnsweredBy = 'exact' | 'leading_wildcard' | 'trailing_wildcard' | 'regex' | 'default'

export interface ConfigurationEvidence {
  /** The host's own block; null when the files that can be read hold none. */
  readonly own: BlockPlace | null
  readonly listen: readonly Listen[]
  /** Files younger than what nginx runs that could not be understood, in our own words. */
  readonly broken: readonly { readonly path: string; readonly line: number | null; readonly sentence: string }[]
  /** Why nginx refused what is on disk when it was last told to load it, in our own words. */
  readonly refusal: string | null
  /** Whether the host's file is younger than what nginx runs. Null: that cannot be told. */
  readonly changedSinceLoad: boolean | null
}

/** The host's files, compared with what was applied. */
export type FileState = 'unchanged' | 'edited' | 'missing' | 'not_ours'

export const fileFact = (state: FileState): BadgeFacts['file'] =>
  state === 'not_ours' ? null : state === 'unchanged' ? 'unchanged' : 'edited'

export interface Target {
  readonly protocol: 'http' | 'https'
  readonly host: string
  readonly port: number
}

export interface TargetEvidence {
  /**
   * `found`: the block passes requests on to `target`. `none`: it passes them nowhere. `variable`: only a request would tell
   * where to. `name_unresolved`: the target's name has no address. `unknown`: there is no block to read it from.
   */
  readonly kind: 'found' | 'none' | 'variable' | 'name_unresolved' | 'unknown'
  readonly target: Target | null
  readonly proxyPass: string | null
  /** The target's address, when it is one or could be resolved. */
  readonly address: string | null
  /** Other servers that share the work with the target. */
  readonly furtherTargets: number
  /** Managed, and the file on disk names another target than the plan. */
  readonly moved: boolean
}

export interface BackendEvidence {
  readonly tcp: Reach
  /** Null: nobody asked, or there was no time left. */
  readonly health: HealthFact | null
  /** It is asked for plain HTTP and takes a TLS handshake. */
  readonly speaksTls: boolean
  /** Ports beside the target's, on the same registered server and nobody else's, where something answers HTTP. */
  readonly answeringNeighbours: readonly number[]
}

/** What a line of nginx's error log is about. The line itself never leaves the edge. */
export type ErrorClass =
  | 'connection_refused'
  | 'connect_timeout'
  | 'upstream_timeout'
  | 'no_route'
  | 'upstream_reset'
  | 'upstream_closed_early'
  | 'upstream_tls'
  /** What it answers is no HTTP. */
  | 'upstream_not_http'
  | 'upstream_unresolved'
  | 'no_live_upstreams'
  | 'body_too_large'
  | 'permission_denied'
  | 'file_missing'
  | 'other'
