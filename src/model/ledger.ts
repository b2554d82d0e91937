/** One line of what was asked of a certificate authority, and what came of it. Lines are added and never changed. */
export interface LedgerLine {
  readonly directory: string
  /** The exact set of names: in alphabetical order, joined by a comma. */
  readonly names: string
  /** `ordered`: an order is about to be placed. `failed`: a try has ended without a certificate. */
  readonly kind: 'ordered' | 'issued' | 'failed'
  readonly at: number
  /** The names whose proof the authority did not accept. */
  readonly unproven: readonly string[]
}

/** Until when an authority wants no orders (milliseconds since 1970): new ones, and also those that it exempts from its limits. */
export interface AuthorityPause {
  readonly newOrders: number
  readonly everything: number
}

/** The exact set, however its names are ordered. */
export const nameSet = (names: readonly string[]): string => [...new Set(names)].sort().join(',')

/** An order that was placed. After a crash it is resumed instead of ordering again. The private key is in a file. */
export interface OrderRecord {
  /** The names joined by a comma: at most one order is open for the same names at the same directory. */
  readonly names: string
  readonly directory: string
  readonly url: string
  readonly keyFile: string
  readonly createdAt: number
}
