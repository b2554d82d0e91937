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
