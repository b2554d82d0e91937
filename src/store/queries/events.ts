import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { NewEvent, StoredEvent } from '../../model/event.ts'
import type { EventStore } from '../ports/events.ts'
import type { EventRow, Schema } from '../schema.ts'
import { missingHead } from './audit-lines.ts'

export const eventsIn = (db: Kysely<Schema>): EventStore => ({
  appendEvent: (event) => append(db, event),

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

  async readHostEvents(host, types, limit) {
    const rows = await db
      .selectFrom('events')
      .selectAll()
      .where('host', '=', host)
      .where('type', 'in', [...types])
      .orderBy('seq', 'desc')
      .limit(limit)
      .execute()
    return rows.map(toEvent).toReversed()
  },

  async eventHead() {
    const head = await db.selectFrom('audit_head').select('events').executeTakeFirst()
    return head?.events ?? 0
  },
})

/**
 * Updates the head first: this locks out all other appenders until the transaction ends. So events become visible in
 * the order of their sequence numbers, and a reader never misses one.
 */
async function append(transaction: Kysely<Schema>, event: NewEvent): Promise<StoredEvent> {
  const { seq } = await transaction
    .updateTable('audit_head')
    .set((eb) => ({ events: eb('events', '+', 1) }))
    .returning('events as seq')
    .executeTakeFirstOrThrow(missingHead)
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
