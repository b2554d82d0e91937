import type { AuthorityPause, LedgerLine, OrderRecord, Renewal } from '../../model/ledger.ts'

/** Certificate orders in progress, the ledger of all orders, and the state of renewals. */
export interface OrderStore {
  findOrder(names: string, directory: string): Promise<OrderRecord | undefined>
  /** Inserts the order, or replaces the order for the same names and directory. Repeatable. */
  putOrder(order: OrderRecord): Promise<void>
  /** Repeatable: an order that does not exist is no error. */
  deleteOrder(names: string, directory: string): Promise<void>
  /**
   * Locks the ledger of a directory until the transaction ends: no other transaction can append to it. Only inside a
   * transaction. To spend a budget, lock the ledger, read it, decide, then append.
   */
  holdLedger(directory: string): Promise<void>
  /** Appends one line. Not repeatable: a second call appends a second line. Concurrent calls lose no line. */
  appendLedger(line: LedgerLine): Promise<void>
  /**
   * Lines with `at` >= `since`, in the order of appending. With `names`, only the lines of exactly this set of names.
   */
  readLedger(page: { directory: string; since: number; names?: string | undefined }): Promise<LedgerLine[]>
  /**
   * Pauses orders to an authority until the given times. Never shortens an earlier pause, except one that ends after `latest`: that
   * was noted by a clock that was ahead. Repeatable.
   */
  pauseAuthority(directory: string, until: AuthorityPause, latest: number): Promise<void>
  /** The ends of the pauses of an authority, 0 where there was none. */
  authorityPause(directory: string): Promise<AuthorityPause>
  findRenewal(fingerprint: string): Promise<Renewal | undefined>
  /** All renewals, ordered by their names. */
  listRenewals(): Promise<Renewal[]>
  /** Inserts the renewal, or replaces the renewal of the same certificate. Repeatable. */
  putRenewal(renewal: Renewal): Promise<void>
  /** Repeatable: a renewal that does not exist is no error. */
  deleteRenewal(fingerprint: string): Promise<void>
}
