import type { AuditEntry, AuditLine } from '../../model/audit.ts'

/** The hash chain of audit lines. */
export interface AuditStore {
  /**
   * Appends one line to the chain. Concurrent appenders, here or in another instance, are put in one order: inside a
   * transaction everybody else waits for its end, so append last.
   */
  appendAudit(entry: AuditEntry): Promise<AuditLine>
  /** Lines with `seq` > `afterSeq`, oldest first, at most `limit`. */
  readAudit(afterSeq: number, limit: number): Promise<AuditLine[]>
  /** The newest line's place and hash as the store remembers it apart from the lines; undefined before the first. */
  auditHead(): Promise<{ seq: number; hash: string } | undefined>
}
