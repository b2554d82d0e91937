/** The result of one check of a plan. Evidence is in further members beside `detail`. */
export interface Check {
  readonly name: 'health' | 'dns' | 'certificate' | 'proxy'
  readonly status: 'passed' | 'warning' | 'not_required' | 'failed'
  readonly detail: string
  readonly [evidence: string]: unknown
}

/** The ten record types that make a name taken, as the specification lists them. */
export const CONFLICTING_TYPES = ['A', 'AAAA', 'CNAME', 'TXT', 'MX', 'SRV', 'CAA', 'NS', 'HTTPS', 'SVCB'] as const

/** The result of a request to a backend's health path. */
export type HealthFact =
  | { readonly kind: 'healthy'; readonly httpStatus: number; readonly latencyMs: number }
  | {
      readonly kind: 'unhealthy'
      readonly reason: 'refused' | 'unreachable' | 'timeout' | 'not_http' | 'status'
      readonly httpStatus?: number
      readonly latencyMs: number
    }

/** The state of a DNS name. Only a `free` name can be planned; `unknown` is not free. */
export type NameFact =
  | {
      readonly kind: 'free'
      /** Record types that a wildcard answers for this name. They are not the name's own records, but cause a warning. */
      readonly wildcardTypes: readonly string[]
      /** The name has names below it, but no records. */
      readonly emptyNonTerminal: boolean
    }
  | {
      readonly kind: 'taken'
      readonly by: 'record' | 'delegation' | 'dname' | 'owner_mark' | 'exposure' | 'run'
      /** The record types that were found. Empty when an exposure or a run holds the name. */
      readonly types: readonly string[]
      /** The name itself, or the ancestor that delegates or redirects it. */
      readonly at: string
      /** The plan of the exposure or run that holds the name. Only internal callers see it. */
      readonly planId?: string
    }
  /** It holds exactly the records of the exposure that is replaced, or others. */
  | { readonly kind: 'kept' }
  /** The name of a site that is adopted has these records, which stay. */
  | { readonly kind: 'held'; readonly records: readonly HeldRecord[] }
  | { readonly kind: 'changed' }
  | { readonly kind: 'unknown'; readonly reason: string }

interface HeldRecord {
  readonly name: string
  readonly type: 'A' | 'AAAA' | 'CNAME' | 'TXT'
  readonly ttl: number
  readonly value: string
}

/** Whether HTTPS is possible for a host, and how. */
export type CertificateFact =
  | { readonly kind: 'not_required' }
  | {
      readonly kind: 'installed'
      readonly names: readonly string[]
      readonly wildcard: boolean
      readonly notAfter: string
      readonly fingerprint: string
    }
  | {
      readonly kind: 'issuable'
      readonly directory: string
      /** The names of the certificate that would be ordered. */
      readonly names: readonly string[]
      readonly caa: string
      /** Consecutive failed orders for these names, and what remains of the authority's limits. */
      readonly budget: { readonly failures: number; readonly limits: readonly object[] }
    }
  | {
      readonly kind: 'unavailable'
      readonly reason: 'caa_forbids' | 'caa_unknown' | 'directory_unavailable' | 'budget'
      readonly sentence: string
      /** Seconds after which a retry can succeed. */
      readonly retryAfter?: number
      /** The CAA record that forbids the certificate. */
      readonly record?: CaaRecord
    }

/** A CAA record as its zone serves it. */
export interface CaaRecord {
  readonly name: string
  readonly tag: string
  readonly value: string
}

/** The state of the Primary's nginx. */
export type ProxyFact =
  | { readonly kind: 'not_required' }
  /** The configuration is valid, and no other server block answers for the name. */
  | { readonly kind: 'free' }
  /** The hand-written site that the plan adopts, and nothing else, answers for the name. */
  | {
      readonly kind: 'adopted'
      readonly carried: number
      /** What an exposure cannot say, and what changes, by the names of directives. */
      readonly lost: readonly { readonly directive: string; readonly sentence: string }[]
      readonly changed: readonly { readonly directive: string; readonly sentence: string }[]
    }
  /** The site is not what the plan has seen. */
  | { readonly kind: 'moved' }
  | {
      readonly kind: 'taken'
      /** The kind of server_name that selects the other block. `default`: it answers every name on an address of Drawbridge. */
      readonly how: 'exact' | 'leading_wildcard' | 'trailing_wildcard' | 'regex' | 'default'
      readonly file: string
      readonly line: number
    }
  /** nginx cannot load the configuration, or it logs at debug level, which would log private keys. With the place, if known. */
  | { readonly kind: 'broken'; readonly reason: string; readonly file?: string; readonly line?: number }
  /** nginx does not include what Drawbridge serves, or has no place for it. */
  | { readonly kind: 'unprepared'; readonly reason: string }
  /** nginx could not be asked. */
  | { readonly kind: 'unknown' }

/** What the edge itself can say of a name. Whether a site is adopted depends on the plan. */
export type ServedName = Exclude<ProxyFact, { readonly kind: 'adopted' | 'moved' }>

export interface Observation {
  readonly health: HealthFact
  readonly name: NameFact
  readonly certificate: CertificateFact
  readonly proxy: ProxyFact
}
