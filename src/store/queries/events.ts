import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { NewEvent, StoredEvent } from '../../model/event.ts'
import type { EventStore } from '../ports/events.ts'
import type { EventRow, Schema } from '../schema.ts'
import { statement } from '../statement.ts'
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

  async readEventsBefore(beforeSeq, limit) {
    const rows = await db
      .selectFrom('events')
      .selectAll()
      .where('seq', '<', beforeSeq)
      .orderBy('seq', 'desc')
      .limit(limit)
      .execute()
    return rows.map(toEvent).toReversed()
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

const countEvent = statement((db) =>
  db
    .updateTable('audit_head')
    .set((eb) => ({ events: eb('events', '+', 1) }))
    .returning('events as seq'),
)
const insertOne = statement((db, { seq, id, at, type, host, plan_id, facts }: EventRow) =>
  db.insertInto('events').values({ seq, id, at, type, host, plan_id, facts }),
)

/**
 * Updates the head first: this locks out all other appenders until the transaction ends. So events become visible in
 * the order of their sequence numbers, and a reader never misses one.
 */
async function append(transaction: Kysely<Schema>, event: NewEvent): Promise<StoredEvent> {
  const [head] = (await countEvent(transaction, {})).rows
  if (!head) throw missingHead()
  const { seq } = head
  const id = `evt_${randomBytes(13).toString('hex')}`
  const { at, type, host, planId, facts } = event
  await insertOne(transaction, { seq, id, at, type, host, plan_id: planId ?? null, facts: JSON.stringify(facts) })
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
