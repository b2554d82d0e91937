import type { AuditEntry, AuditLine } from '../../model/audit.ts'

/** The hash chain of audit lines. */
export interface AuditStore {
  /**
   * Appends one line to the chain and resolves with its sequence number and hash. Not repeatable: a second call appends
   * a second line. Concurrent calls, also of other instances, append one after the other. Inside a transaction the call
   * locks the chain until the transaction ends, so make it the last call of the transaction.
   */
  appendAudit(entry: AuditEntry): Promise<AuditLine>
  /** Lines with `seq` > `afterSeq`, oldest first, at most `limit`. */
  readAudit(afterSeq: number, limit: number): Promise<AuditLine[]>
  /**
   * Sequence number and hash of the newest line, or undefined before the first line. The store keeps the head apart
   * from the lines, so that lines that were cut off at the end are noticed.
   */
  auditHead(): Promise<{ seq: number; hash: string } | undefined>
}
