import type { Endpoint } from './address.ts'
import type { Badge, CertificateLevel, CheckAnswer, Validity } from './badge.ts'
import type { History } from './history.ts'

/** A host that the Primary's edge serves or should serve, and how the monitor checks it. */
export interface WatchedHost {
  readonly host: string
  /** The path of the file with its server block. Null when there is no such file. */
  readonly configPath: string | null
  /** Drawbridge created the host. */
  readonly managed: boolean
  readonly tls: boolean
  /** The path that checks request: the health path of a managed host, `/` for any other. */
  readonly path: string
  /** Where the edge listens for the host. */
  readonly listenAddress: Endpoint
  /** The id of the backend's server. Null when its address is not in the registry, or the host proxies nothing. */
  readonly server: string | null
  /** The address of the backend, for callers on the internal network. */
  readonly address: string | null
  readonly planId: string | null
  readonly expiresAt: number | null
}

/** The result of one request through the edge. */
interface CheckResult extends CheckAnswer {
  readonly at: number
  readonly ok: boolean
  readonly latencyMs: number | null
}

export interface ServedCertificate extends Validity {
  readonly level: CertificateLevel
  /** Whether it covers this host. */
  readonly forHost: boolean
}

/** The results of the last full check: DNS, files and certificate. Null: not checked yet, or not known. */
export interface FullCheck {
  readonly at: number | null
  readonly dns: 'ours' | 'not_ours' | null
  readonly file: 'unchanged' | 'edited' | null
  readonly certificate: ServedCertificate | null
}

/** Everything that is known about a host. The store keeps it as JSON. */
export interface HostStatus extends WatchedHost {
  readonly badge: Badge
  /** When the badge last changed. Null while the badge is PENDING. */
  readonly since: number | null
  readonly lastCheck: CheckResult | null
  readonly fullCheck: FullCheck
  readonly history: History
  /** Increases with every badge change over all hosts. A stream resumes from it. */
  readonly changed: number
}
