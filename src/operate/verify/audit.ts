import { type ChainFault, ChainVerifier } from '../../audit/chain.ts'
import type { AuditStore } from '../../store/ports/audit.ts'

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

/** Verifies the whole audit chain and returns its first fault. The service may write and prune at the same time. */
export async function verifyAudit(store: Pick<AuditStore, 'readAudit' | 'auditHead'>): Promise<AuditVerdict> {
  for (;;) {
    const beginning = await firstSeq(store)
    const verdict = await walk(store)
    // The service pruned lines during the walk. That is not a fault, but the walk must be repeated.
    if (verdict.ok || (await firstSeq(store)) === beginning) return verdict
  }
}

async function walk(store: Pick<AuditStore, 'readAudit' | 'auditHead'>): Promise<AuditVerdict> {
  const chain = new ChainVerifier()
  for (;;) {
    // The head is read before the lines, so the lines must include it.
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

/** The result in one sentence. An administrator can keep the head's hash elsewhere: it proves all lines before it. */
export function auditReport(verdict: AuditVerdict): string {
  if (!verdict.ok) return verdict.sentence
  if (verdict.lines === 0) return 'The audit chain is empty.'
  return `The audit chain is intact: ${verdict.lines} lines, ${verdict.first} to ${verdict.last}, head ${verdict.headHash}.`
}
