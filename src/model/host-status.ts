import type { Endpoint } from './address.ts'
import type { Badge, CertificateLevel, CheckAnswer, Validity } from './badge.ts'
import type { History } from './history.ts'

/** A host that the Primary's edge serves, or should: where it stands and how it is asked. */
export interface WatchedHost {
  readonly host: string
  /** Of the file with its server block; null when there is none. */
  readonly configPath: string | null
  /** Made by Drawbridge. */
  readonly managed: boolean
  readonly tls: boolean
  /** What is asked for: the health path of a managed host, `/` of any other. */
  readonly path: string
  /** Where the edge listens for it. */
  readonly door: Endpoint
  /** The id of the server behind it; null when its address is not in the registry, or it proxies nowhere. */
  readonly server: string | null
  /** The address behind it, for callers inside. */
  readonly address: string | null
  readonly planId: string | null
  readonly expiresAt: number | null
}

/** One answer, or none, through the edge. */
interface CheckResult extends CheckAnswer {
  readonly at: number
  readonly ok: boolean
  readonly latencyMs: number | null
}

export interface ServedCertificate extends Validity {
  readonly level: CertificateLevel
  /** Whether it is for this host's name. */
  readonly forHost: boolean
}

/** What was seen on the looks that are taken less often. Null: not yet, or it could not be seen. */
export interface Sightings {
  readonly at: number | null
  readonly dns: 'ours' | 'not_ours' | null
  readonly file: 'unchanged' | 'edited' | null
  readonly certificate: ServedCertificate | null
}

/** All that is known of a host. */
export interface HostStatus extends WatchedHost {
  readonly badge: Badge
  /** When the badge became what it is; null while it is PENDING. */
  readonly since: number | null
  readonly lastCheck: CheckResult | null
  readonly sightings: Sightings
  readonly history: History
  /** Grows with every change of a badge, over all hosts: a place to go on from. */
  readonly changed: number
}
