import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { NewEvent, StoredEvent } from '../../model/event.ts'
import type { StoreSession } from '../ports/store.ts'
import type { EventRow, Schema } from '../schema.ts'

type Events = Pick<StoreSession, 'appendEvent' | 'readEvents' | 'eventHead'>

export const eventsIn = (db: Kysely<Schema>): Events => ({
  appendEvent: (event) =>
    db.isTransaction ? append(db, event) : db.transaction().execute((transaction) => append(transaction, event)),

  async readEvents(afterSeq, limit) {
    const rows = await db
      .selectFrom('events')
      .selectAll()
      .where('seq', '>', afterSeq)
      .orderBy('seq')
      .limit(limit)
      .execute()
    return rows.map(toEvent)
  },

  async eventHead() {
    const head = await db.selectFrom('audit_head').select('events').executeTakeFirst()
    return head?.events ?? 0
  },
})

/**
 * Counting on first makes every other appender wait for the end of this transaction: events become visible in the order
 * of their places, so a reader that has seen one will never be shown an earlier one later.
 */
async function append(transaction: Kysely<Schema>, event: NewEvent): Promise<StoredEvent> {
  const { seq } = await transaction
    .updateTable('audit_head')
    .set((eb) => ({ events: eb('events', '+', 1) }))
    .returning('events as seq')
    .executeTakeFirstOrThrow(() => new Error('the head of the audit chain is gone: run drawbridge audit verify'))
  const id = `evt_${randomBytes(13).toString('hex')}`
  const { at, type, host, planId, facts } = event
  await transaction
    .insertInto('events')
    .values({ seq, id, at, type, host, plan_id: planId ?? null, facts: JSON.stringify(facts) })
    .execute()
  return { ...event, seq, id }
}

export const toEvent = ({ seq, id, at, type, host, plan_id, facts }: EventRow): StoredEvent => ({
  seq,
  id,
  at,
  type,
  host,
  ...(plan_id !== null && { planId: plan_id }),
  facts: JSON.parse(facts),
})
