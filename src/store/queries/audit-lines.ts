import type { Kysely } from 'kysely'
import { type AuditEntry, type AuditLine, lineHash } from '../../model/audit.ts'
import type { AuditStore } from '../ports/audit.ts'
import type { AuditLineRow, Schema } from '../schema.ts'
import { statement } from '../statement.ts'

export const auditLinesIn = (db: Kysely<Schema>): AuditStore => ({
  appendAudit: (entry) => append(db, entry),

  async readAudit(afterSeq, limit) {
    const rows = await db
      .selectFrom('audit_lines')
      .selectAll()
      .where('seq', '>', afterSeq)
      .orderBy('seq')
      .limit(limit)
      .execute()
    return rows.map(toLine)
  },

  async auditHead() {
    const head = await db.selectFrom('audit_head').select(['seq', 'hash']).executeTakeFirst()
    return head?.seq ? head : undefined
  },
})

const countLine = statement((db) =>
  db
    .updateTable('audit_head')
    .set((eb) => ({ seq: eb('seq', '+', 1) }))
    .returning(['seq', 'hash as previous']),
)
const insertLine = statement((db, { seq, at, action, entry, previous, hash }: AuditLineRow) =>
  db.insertInto('audit_lines').values({ seq, at, action, entry, previous, hash }),
)
const setHead = statement((db, { hash }: { hash: string }) => db.updateTable('audit_head').set({ hash }))

/** Updates the head first: this locks out all other appenders until the transaction ends. */
async function append(transaction: Kysely<Schema>, entry: AuditEntry): Promise<AuditLine> {
  const [head] = (await countLine(transaction, {})).rows
  if (!head) throw missingHead()
  const { seq, previous } = head
  const hash = lineHash(previous, seq, entry)
  const { at, action, ...members } = entry
  await insertLine(transaction, { seq, at, action, entry: JSON.stringify(members), previous, hash })
  await setHead(transaction, { hash })
  return { ...entry, seq, previous, hash }
}

export const missingHead = (): Error =>
  new Error('The head of the audit chain is missing from the store. Run drawbridge audit verify.')

const toLine = ({ seq, at, action, entry, previous, hash }: AuditLineRow): AuditLine => ({
  ...readMembers(entry),
  at,
  action,
  seq,
  previous,
  hash,
})

/** A line whose JSON was damaged is still read. Its hash no longer matches, so the verification reports it. */
function readMembers(text: string): Omit<AuditEntry, 'at' | 'action'> {
  try {
    return JSON.parse(text)
  } catch {
    return { actor: 'unreadable', network: 'self', outcome: 'refused' }
  }
}
