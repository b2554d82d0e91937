import { type Expression, expressionBuilder, type Kysely, type SqlBool } from 'kysely'
import type { Delivery, WebhookState, WebhookStore } from '../ports/webhooks.ts'
import type { Schema } from '../schema.ts'
import { toEvent } from './events.ts'

export const outboxIn = (db: Kysely<Schema>): WebhookStore => ({ ...queueIn(db), ...outcomesIn(db), ...reportsIn(db) })

type Queue = Pick<WebhookStore, 'openWebhook' | 'queueDeliveries' | 'dueDeliveries'>

const queueIn = (db: Kysely<Schema>): Queue => ({
  async openWebhook(name) {
    await db
      .insertInto('webhooks')
      .values((eb) => ({ name, seq: eb.selectFrom('audit_head').select('audit_head.events'), delivered: 0 }))
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute()
    const { seq } = await db.selectFrom('webhooks').select('seq').where('name', '=', name).executeTakeFirstOrThrow()
    return seq
  },

  async queueDeliveries(hook, events, { from, through }, dueAt) {
    const { numUpdatedRows } = await db
      .updateTable('webhooks')
      .set({ seq: through })
      .where('name', '=', hook)
      .where('seq', '=', from)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return false
    if (events.length === 0) return true
    const fresh = { state: 'pending', tries: 0, due_at: dueAt, fault: null } as const
    await db
      .insertInto('deliveries')
      .values(events.map(({ seq, host }) => ({ hook, seq, host, ...fresh })))
      .execute()
    return true
  },

  async dueDeliveries(hook, now, longestMs, limit) {
    const nextOf = firstOfHosts(db, hook)
    const due = (first: Expression<SqlBool>) =>
      db
        .selectFrom('deliveries as next')
        .innerJoin('events', 'events.seq', 'next.seq')
        .selectAll('events')
        .select('next.tries')
        .where('next.hook', '=', hook)
        .where('next.state', '=', 'pending')
        .where((eb) => eb.or([eb('next.due_at', '<=', now), eb('next.due_at', '>', now + longestMs)]))
        .where(first)
        .orderBy('next.seq')
        .limit(limit)
        .execute()
    const oldest = await due(nextOf.amongOldest)
    const rows = oldest.length < limit ? await due(nextOf.amongAll) : oldest
    return rows.map(({ tries, ...event }): Delivery => ({ event: toEvent(event), tries }))
  },
})

/** How many of the oldest rows are looked through one by one. */
const OLDEST = 200

/**
 * The earliest pending delivery of each host, found in two ways: to ask for each row whether it is one is fast where many are due, and
 * takes a hundred milliseconds where a receiver is gone and none of a long backlog is. To ask for those of all hosts takes the same time
 * always, a tenth of that.
 */
function firstOfHosts(db: Kysely<Schema>, hook: string) {
  const eb = expressionBuilder<Schema & { next: Schema['deliveries'] }, 'next'>()
  const pending = db.selectFrom('deliveries').where('hook', '=', hook).where('state', '=', 'pending')
  const hasEarlier = eb.exists(
    eb
      .selectFrom('deliveries as earlier')
      .select('earlier.seq')
      .where('earlier.hook', '=', hook)
      .where('earlier.state', '=', 'pending')
      .whereRef('earlier.host', '=', 'next.host')
      .whereRef('earlier.seq', '<', 'next.seq'),
  )
  const end = pending.select('seq').orderBy('seq').limit(1).offset(OLDEST)
  return {
    amongOldest: eb.and([
      eb('next.seq', '<', eb.fn.coalesce(end, eb.lit(Number.MAX_SAFE_INTEGER))),
      eb.not(hasEarlier),
    ]),
    amongAll: eb('next.seq', 'in', pending.select((of) => of.fn.min('seq').as('seq')).groupBy('host')),
  }
}

type Outcomes = Pick<WebhookStore, 'settleDelivery' | 'postponeDelivery' | 'reviveDeliveries'>

const outcomesIn = (db: Kysely<Schema>): Outcomes => ({
  async settleDelivery(hook, seq, at) {
    const { numDeletedRows } = await db
      .deleteFrom('deliveries')
      .where('hook', '=', hook)
      .where('seq', '=', seq)
      .executeTakeFirst()
    if (numDeletedRows === 0n) return
    await db
      .updateTable('webhooks')
      .set((eb) => ({ delivered: eb('delivered', '+', 1), last_delivered_at: at }))
      .where('name', '=', hook)
      .execute()
  },

  async postponeDelivery(hook, seq, { tries, dueAt, fault, dead, at }) {
    await db
      .updateTable('deliveries')
      .set({ state: dead ? 'dead' : 'pending', tries, due_at: dueAt, fault })
      .where('hook', '=', hook)
      .where('seq', '=', seq)
      .execute()
    await db.updateTable('webhooks').set({ last_failed_at: at, last_fault: fault }).where('name', '=', hook).execute()
  },

  async reviveDeliveries(hook, now) {
    const { numUpdatedRows } = await db
      .updateTable('deliveries')
      .set({ state: 'pending', tries: 0, due_at: now })
      .where('hook', '=', hook)
      .executeTakeFirst()
    return Number(numUpdatedRows)
  },
})

type Reports = Pick<WebhookStore, 'deadLetters' | 'webhookState'>

const reportsIn = (db: Kysely<Schema>): Reports => ({
  async deadLetters(hook, limit) {
    const rows = await db
      .selectFrom('deliveries')
      .innerJoin('events', 'events.seq', 'deliveries.seq')
      .selectAll('events')
      .select(['deliveries.tries', 'deliveries.fault'])
      .where('deliveries.hook', '=', hook)
      .where('deliveries.state', '=', 'dead')
      .orderBy('deliveries.seq', 'desc')
      .limit(limit)
      .execute()
    return rows.map(({ tries, fault, ...event }) => ({ event: toEvent(event), tries, fault: fault ?? '' }))
  },

  async webhookState(hook) {
    const row = await db.selectFrom('webhooks').selectAll().where('name', '=', hook).executeTakeFirst()
    const counts = await db
      .selectFrom('deliveries')
      .select((eb) => ['state', eb.fn.countAll<number | string>().as('count'), eb.fn.max('tries').as('tries')])
      .where('hook', '=', hook)
      .groupBy('state')
      .execute()
    const count = (state: 'pending' | 'dead') => Number(counts.find((of) => of.state === state)?.count ?? 0)
    return {
      delivered: row?.delivered ?? 0,
      pending: count('pending'),
      dead: count('dead'),
      failing: (counts.find(({ state }) => state === 'pending')?.tries ?? 0) > 0,
      lastDeliveredAt: row?.last_delivered_at ?? undefined,
      lastFailedAt: row?.last_failed_at ?? undefined,
      lastFault: row?.last_fault ?? undefined,
    } satisfies WebhookState
  },
})
