import type { Kysely } from 'kysely'
import type { JournalEntry } from '../model/run.ts'
import type { StoreSession } from './contract.ts'
import { refuseStale } from './runs.ts'
import type { JournalRow, Schema } from './schema.ts'

type Journal = Pick<StoreSession, 'appendJournal' | 'readJournal'>

export const journalIn = (db: Kysely<Schema>): Journal => ({
  appendJournal: (entry, fence) =>
    db.isTransaction
      ? append(db, entry, fence)
      : db.transaction().execute((transaction) => append(transaction, entry, fence)),

  async readJournal(runId, afterSeq) {
    const rows = await db
      .selectFrom('journal')
      .selectAll()
      .where('run_id', '=', runId)
      .where('seq', '>', afterSeq)
      .orderBy('seq')
      .execute()
    return rows.map(toEntry)
  },
})

/** Counting on first judges the fence and makes every other appender to this run wait for the end of the transaction. */
async function append(
  transaction: Kysely<Schema>,
  entry: Omit<JournalEntry, 'seq'>,
  fence: number,
): Promise<JournalEntry> {
  const { runId, at, step, mark, ...content } = entry
  const counted = await transaction
    .updateTable('runs')
    .set((eb) => ({ entries: eb('entries', '+', 1) }))
    .where('run_id', '=', runId)
    .where('fence', '<=', fence)
    .returning('entries as seq')
    .executeTakeFirst()
  if (!counted) {
    await refuseStale(transaction, runId, fence)
    throw new Error(`there is no run ${runId} to keep a journal of`)
  }
  const { seq } = counted
  await transaction
    .insertInto('journal')
    .values({ run_id: runId, seq, at, step, mark, content: JSON.stringify(content) })
    .execute()
  return { ...entry, seq }
}

const toEntry = (row: JournalRow): JournalEntry => ({
  runId: row.run_id,
  seq: row.seq,
  at: row.at,
  step: row.step,
  mark: row.mark,
  ...(JSON.parse(row.content) as Pick<JournalEntry, 'image' | 'detail'>),
})
