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
