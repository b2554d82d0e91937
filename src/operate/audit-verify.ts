import { type ChainFault, ChainVerifier } from '../audit/chain.ts'
import type { AuditStore } from '../store/ports/audit.ts'

const PAGE = 1_000

export type AuditVerdict =
  | {
      readonly ok: true
      readonly lines: number
      readonly first: number
      readonly last: number
      readonly headHash: string
    }
  | ({ readonly ok: false } & ChainFault)

/** Follows the whole audit chain and tells its first fault. The service may go on writing and pruning meanwhile. */
export async function verifyAudit(store: Pick<AuditStore, 'readAudit' | 'auditHead'>): Promise<AuditVerdict> {
  for (;;) {
    const beginning = await firstSeq(store)
    const verdict = await walk(store)
    // A beginning that moved was pruned under our feet: that is no fault, but calls for another look.
    if (verdict.ok || (await firstSeq(store)) === beginning) return verdict
  }
}

async function walk(store: Pick<AuditStore, 'readAudit' | 'auditHead'>): Promise<AuditVerdict> {
  const chain = new ChainVerifier()
  for (;;) {
    // Before the lines: what the head knew of by now must be among them.
    const head = await store.auditHead()
    const page = await store.readAudit(chain.extent.last, PAGE)
    for (const line of page) {
      const fault = chain.follow(line)
      if (fault) return { ok: false, ...fault }
    }
    if (page.length > 0) continue
    const fault = chain.finish(head)
    return fault ? { ok: false, ...fault } : { ok: true, ...chain.extent }
  }
}

const firstSeq = async (store: Pick<AuditStore, 'readAudit' | 'auditHead'>): Promise<number | undefined> =>
  (await store.readAudit(0, 1))[0]?.seq

/** The verdict in a sentence. The head's hash is worth keeping elsewhere: it pins everything before it. */
export function auditReport(verdict: AuditVerdict): string {
  if (!verdict.ok) return verdict.sentence
  if (verdict.lines === 0) return 'The audit chain is empty.'
  return `The audit chain is whole: ${verdict.lines} lines, ${verdict.first} to ${verdict.last}, head ${verdict.headHash}.`
}
