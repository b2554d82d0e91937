import type { AuthorityPause, LedgerLine, OrderRecord } from '../../model/ledger.ts'
import type { Renewal } from '../../model/renewal.ts'

/** Certificate orders: those under way, the ledger of those placed, and the renewals that are due. */
export interface OrderStore {
  findOrder(names: string, directory: string): Promise<OrderRecord | undefined>
  /** Replaces an earlier one for the same names and directory. */
  putOrder(order: OrderRecord): Promise<void>
  deleteOrder(names: string, directory: string): Promise<void>
  /** Inside a transaction: until it ends nobody else adds a line for this directory. Read after it, decide, then add. */
  holdLedger(directory: string): Promise<void>
  appendLedger(line: LedgerLine): Promise<void>
  /** In the order in which they were added; only those of one exact set where `names` is given. */
  readLedger(page: { directory: string; since: number; names?: string | undefined }): Promise<LedgerLine[]>
  /** Prolongs; never shortens what was said before. */
  pauseAuthority(directory: string, until: AuthorityPause): Promise<void>
  /** Zeros for one that nothing was ever said of. */
  authorityPause(directory: string): Promise<AuthorityPause>
  findRenewal(fingerprint: string): Promise<Renewal | undefined>
  /** By name. */
  listRenewals(): Promise<Renewal[]>
  /** Replaces an earlier one for the same certificate. */
  putRenewal(renewal: Renewal): Promise<void>
  deleteRenewal(fingerprint: string): Promise<void>
}
