/** A preflight question of a plan, answered. Evidence rides beside `detail` as further members. */
export interface Check {
  readonly name: 'health' | 'dns' | 'certificate' | 'proxy'
  readonly status: 'passed' | 'warning' | 'not_required' | 'failed'
  readonly detail: string
  readonly [evidence: string]: unknown
}

/** The ten record types whose presence makes a name taken, by the specification. */
export const CONFLICTING_TYPES = ['A', 'AAAA', 'CNAME', 'TXT', 'MX', 'SRV', 'CAA', 'NS', 'HTTPS', 'SVCB'] as const

/** What was seen of a backend's health path. */
export type HealthFact =
  | { readonly kind: 'healthy'; readonly httpStatus: number; readonly latencyMs: number }
  | {
      readonly kind: 'unhealthy'
      readonly reason: 'refused' | 'unreachable' | 'timeout' | 'not_http' | 'status'
      readonly httpStatus?: number
      readonly latencyMs: number
    }

/** What was seen of a DNS name. Only `free` may be planned; `unknown` is not free. */
export type NameFact =
  | {
      readonly kind: 'free'
      /** Types a wildcard answers for this name. Not records of its own, yet worth a warning. */
      readonly wildcardTypes: readonly string[]
      /** The name has children but no records. */
      readonly emptyNonTerminal: boolean
    }
  | {
      readonly kind: 'taken'
      readonly by: 'record' | 'delegation' | 'dname' | 'owner_mark' | 'exposure' | 'run'
      /** The record types found; empty when an exposure or a run holds the name. */
      readonly types: readonly string[]
      /** Where it stands: the name itself or the ancestor that delegates or redirects it. */
      readonly at: string
    }
  | { readonly kind: 'unknown'; readonly reason: string }

/** Whether HTTPS can be had for a host, and how. */
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
      /** What the certificate would be ordered for. */
      readonly names: readonly string[]
      readonly caa: string
      /** How many tries for these names have failed in a row, and what the authority's limits leave. */
      readonly budget: { readonly failures: number; readonly limits: readonly object[] }
    }
  | {
      readonly kind: 'unavailable'
      readonly reason: 'caa_forbids' | 'caa_unknown' | 'directory_unavailable' | 'budget'
      readonly sentence: string
      /** Seconds after which it may be otherwise. */
      readonly retryAfter?: number
      /** The CAA record that forbids. */
      readonly record?: CaaRecord
    }

/** As its zone has it. */
export interface CaaRecord {
  readonly name: string
  readonly tag: string
  readonly value: string
}

/** What was seen of the Primary's nginx. */
export type ProxyFact =
  | { readonly kind: 'not_required' }
  /** It would load its configuration, and nobody else's server block answers for the name. */
  | { readonly kind: 'free' }
  | {
      readonly kind: 'taken'
      /** By which kind of name the other block is chosen; `default`: it answers for every name on an address of ours. */
      readonly how: 'exact' | 'leading_wildcard' | 'trailing_wildcard' | 'regex' | 'default'
      readonly file: string
      readonly line: number
    }
  /** It would not load its configuration, or not be given a key with it; where in it, if that is known. */
  | { readonly kind: 'broken'; readonly reason: string; readonly file?: string; readonly line?: number }
  /** It could not be asked. */
  | { readonly kind: 'unknown' }

export interface Observation {
  readonly health: HealthFact
  readonly name: NameFact
  readonly certificate: CertificateFact
  readonly proxy: ProxyFact
}
