/** One event of an order at a certificate authority. Lines are appended and never changed. */
export interface LedgerLine {
  readonly directory: string
  /** The exact set of names: in alphabetical order, joined by a comma. */
  readonly names: string
  /** `ordered`: an order is about to be placed. `failed`: an order ended without a certificate. */
  readonly kind: 'ordered' | 'issued' | 'failed'
  readonly at: number
  /** The names whose proof the authority did not accept. */
  readonly unproven: readonly string[]
}

/** Until when the authority accepts no orders (milliseconds since 1970). `everything` includes orders exempt from its limits. */
export interface AuthorityPause {
  readonly newOrders: number
  readonly everything: number
}

/** One spelling for a set of names, independent of their order. */
export const nameSet = (names: readonly string[]): string => [...new Set(names)].sort().join(',')

/** A placed order. After a crash the service resumes it instead of placing a new one. The private key is in a file. */
export interface OrderRecord {
  /** The names joined by a comma. At most one order is open for the same names at the same directory. */
  readonly names: string
  readonly directory: string
  readonly url: string
  readonly keyFile: string
  readonly createdAt: number
}

/** The progress of replacing one certificate in use: attempts, the last failure and the next attempt. */
export interface Renewal {
  /** The fingerprint of the certificate to replace. */
  readonly fingerprint: string
  readonly names: readonly string[]
  /** All attempts, and the number of consecutive failures. */
  readonly attempts: number
  readonly failures: number
  /** After a failure: the earliest time of the next attempt. */
  readonly nextAttemptAt?: number | undefined
  /** Why the last attempt failed. */
  readonly reason?: string | undefined
  /** The authority's last renewal information. */
  readonly advice?: RenewalAdvice | undefined
}

/** ACME Renewal Information (RFC 9773). Milliseconds since 1970. */
export interface RenewalAdvice {
  /** The certificate's id at the authority, for the order that replaces it. Undefined if the authority does not support ARI. */
  readonly replaces?: string | undefined
  /** The authority's suggested renewal window. Undefined: it suggested none. */
  readonly window?: { readonly start: number; readonly end: number } | undefined
  /** The earliest time of the next request to the authority. */
  readonly askAgainAt: number
}
