import type { BadgeFacts } from './badge.ts'
import type { HealthFact } from './finding.ts'

/** The facts of one inspection of a host, link by link. The diagnosis interprets them. Times are in milliseconds. */
export interface Evidence {
  readonly host: string
  readonly at: number
  readonly tookMs: number
  readonly managed: boolean
  /** Null: Drawbridge did not create the host. */
  readonly exposure: ExposureEvidence | null
  /** The requested path, through the edge and at the backend. */
  readonly path: string
  readonly name: NameEvidence
  /** Whether DNS serves exactly the applied records. Null: nothing was applied, or DNS gave no reliable answer. */
  readonly records: BadgeFacts['dns']
  readonly edge: ConnectResult
  /** Why the edge cannot be asked for the host. Absent: it can. */
  readonly listenGap?: ListenGap | undefined
  readonly tls: TlsEvidence
  /** The answer that a visitor gets from the edge. */
  readonly visit: VisitEvidence
  /** False: the default server of the running edge answered for the host. Null: not known. */
  readonly isKnown: boolean | null
  readonly block: BlockEvidence
  readonly configuration: ConfigurationEvidence
  readonly file: FileState
  readonly target: TargetEvidence
  readonly backend: BackendEvidence
  /** Null: no log line about this host was found, or the log could not be read. */
  readonly errorClass: ErrorClass | null
  /** The monitor's facts, used where this inspection has none. Null: the monitor has no facts. */
  readonly known: BadgeFacts | null
}

/** The exposure of a managed host, and how it differs from what was applied. */
export interface ExposureEvidence {
  readonly planId: string
  /** `busy`: a run holds the host. `blocked`: its last run failed and could not be undone. */
  readonly state: 'applied' | 'busy' | 'blocked'
  /** `overwrite`: the part was changed outside Drawbridge. Null: not compared. */
  readonly differences:
    | readonly { readonly part: 'entry' | 'record' | 'mark' | 'certificate'; readonly overwrite: boolean }[]
    | null
  /** Whether Drawbridge ordered the certificate of the host, and so renews it. */
  readonly renews: boolean
}

/** The result of a TCP connection attempt. `unknown`: not attempted, or no time was left. */
export type ConnectResult = 'open' | 'refused' | 'timeout' | 'unreachable' | 'unknown'

/** Where a name points. `here`: to the edge of this installation. */
export type NameEvidence =
  | { readonly kind: 'here' | 'elsewhere'; readonly found: readonly string[] }
  | { readonly kind: 'missing' }
  /** The DNS server gave no reliable answer. */
  | { readonly kind: 'uncertain'; readonly reason: string }
  /** DNS answers, but the right answer is not known here. */
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
      /** Whether the applied entry answered, or another server block. Absent: not known. */
      readonly entry?: 'ours' | 'other'
    }
  | {
      readonly kind: 'no_answer'
      readonly reason: 'refused' | 'unreachable' | 'timeout' | 'handshake_refused' | 'not_http' | 'unknown_host'
    }
  | { readonly kind: 'unknown' }

/** A server block of the configuration on disk. Its line is null when the file could not be parsed. */
interface BlockPlace {
  readonly path: string
  readonly line: number | null
}

export interface Listen {
  /** `*`, an IP address, a unix socket, or a host name, whose address only nginx knows. */
  readonly address: string
  readonly port: number | null
  readonly tls: boolean
  readonly defaultServer: boolean
  /** Only connections that begin with the PROXY protocol are understood there. Absent: it is not used. */
  readonly proxyProtocol?: true
  /** Only HTTP/3 over UDP reaches it. Absent: TCP does. */
  readonly quic?: true
}

/**
 * Why nobody can ask for a host: nginx listens for it only by a host name that it resolves itself, only on unix sockets, only with
 * the PROXY protocol, or only with QUIC. Drawbridge speaks neither of the two.
 */
export type ListenGap = 'name' | 'unix_socket' | 'proxy_protocol' | 'quic'

/** Which server block answers for the host, according to the configuration on disk. */
export type BlockEvidence =
  | { readonly kind: 'own' }
  | { readonly kind: 'other'; readonly how: AnsweredBy; readonly answering: BlockPlace }
  /** No block on disk answers. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }

type AnsweredBy = 'exact' | 'leading_wildcard' | 'trailing_wildcard' | 'regex' | 'default'

export interface ConfigurationEvidence {
  /** The host's own block. Null when the readable files contain none. */
  readonly own: BlockPlace | null
  readonly listen: readonly Listen[]
  /** What Drawbridge does not understand of nginx's files. nginx may load it all the same. The sentences quote no file. */
  readonly broken: readonly { readonly path: string; readonly line: number | null; readonly sentence: string }[]
  /** Why nginx refused the configuration at the last reload. The text quotes no file. */
  readonly refusal: string | null
  /** Whether the host's file changed after nginx loaded its configuration. Null: not known. */
  readonly changedSinceLoad: boolean | null
}

/** The host's files, compared with the applied files. `unknown`: nothing was applied yet that could be compared, as after an apply that is blocked. */
export type FileState = 'unchanged' | 'edited' | 'missing' | 'not_ours' | 'unknown'

export const fileFact = (state: FileState): BadgeFacts['file'] =>
  state === 'not_ours' || state === 'unknown' ? null : state === 'unchanged' ? 'unchanged' : 'edited'

/** What nginx speaks to a backend. */
export const BACKEND_PROTOCOLS = [
  'http',
  'https',
  'fastcgi',
  'uwsgi',
  'suwsgi',
  'scgi',
  'grpc',
  'grpcs',
  'memcached',
] as const

export type BackendProtocol = (typeof BACKEND_PROTOCOLS)[number]

export interface Target {
  readonly protocol: BackendProtocol
  readonly host: string
  readonly port: number
}

export interface TargetEvidence {
  /**
   * `found`: the block sends requests to `target`. `none`: it has no backend for them. `variable`: the target depends on the
   * request, or cannot be told from the configuration. `name_unresolved`: the name of the target has no address. `unknown`: there is no block to read.
   */
  readonly kind: 'found' | 'none' | 'variable' | 'name_unresolved' | 'unknown'
  readonly target: Target | null
  readonly proxyPass: string | null
  /** The target's address, if it is an address or could be resolved. */
  readonly address: string | null
  /** The number of other servers in the same upstream. */
  readonly furtherTargets: number
  /** The host is managed, and the file on disk names another target than the plan. */
  readonly moved: boolean
}

export interface BackendEvidence {
  readonly tcp: ConnectResult
  /** Null: not asked, or no time was left. */
  readonly health: HealthFact | null
  /** The edge sends plain HTTP, but the backend accepts a TLS handshake. */
  readonly speaksTls: boolean
  /** Other ports on the same registered server that answer HTTP and belong to no other exposure. */
  readonly answeringNeighbours: readonly number[]
}

/** The class of a line in nginx's error log. The line itself never leaves the edge. */
export const ERROR_CLASSES = [
  'connection_refused',
  'connect_timeout',
  'upstream_timeout',
  'no_route',
  'upstream_reset',
  'upstream_closed_early',
  'upstream_tls',
  /** The answer is not HTTP. */
  'upstream_not_http',
  'upstream_unresolved',
  'no_live_upstreams',
  'body_too_large',
  'permission_denied',
  'file_missing',
  'other',
] as const
export type ErrorClass = (typeof ERROR_CLASSES)[number]
