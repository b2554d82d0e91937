/** How the replacement of one certificate in use goes: what was tried, what hindered it, and when it is tried again. */
export interface Renewal {
  /** Of the certificate that is to be replaced. */
  readonly fingerprint: string
  readonly names: readonly string[]
  /** Tries so far, and how many of them failed in a row. */
  readonly attempts: number
  readonly failures: number
  /** After a failure: not before then. */
  readonly nextAttemptAt?: number | undefined
  /** Why the last try failed. */
  readonly reason?: string | undefined
  /** What its authority said when it was last asked. */
  readonly advice?: RenewalAdvice | undefined
}

/** ACME Renewal Information (RFC 9773). Milliseconds since 1970. */
export interface RenewalAdvice {
  /** The certificate's name there, for an order that replaces it; undefined where the authority knows no such names. */
  readonly replaces?: string | undefined
  /** When the authority wants the certificate to be replaced; undefined: it did not say. */
  readonly window?: { readonly start: number; readonly end: number } | undefined
  /** The authority is not asked again before then. */
  readonly askAgainAt: number
}
