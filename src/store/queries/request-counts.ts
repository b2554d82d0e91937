import { type Kysely, sql } from 'kysely'
import type { RequestCountStore } from '../ports/request-counts.ts'
import type { Schema } from '../schema.ts'

/** A window that ends later than one that begins now was begun by a clock that was ahead. */
const isOpen = (now: number, windowMs: number) =>
  sql<boolean>`request_counts.window_end > ${now} and request_counts.window_end <= ${now + windowMs}`

export const requestCountsIn = (db: Kysely<Schema>): RequestCountStore => ({
  async countRequests(added, now, windowMs) {
    const rows = await db
      .insertInto('request_counts')
      // In one order, so that two instances never wait for each other.
      .values(
        [...added]
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([counted, requests]) => ({ counted, requests, window_end: now + windowMs })),
      )
      .onConflict((conflict) =>
        conflict.column('counted').doUpdateSet((eb) => ({
          requests: eb
            .case()
            .when(isOpen(now, windowMs))
            .then(eb('request_counts.requests', '+', eb.ref('excluded.requests')))
            .else(eb.ref('excluded.requests'))
            .end(),
          window_end: eb
            .case()
            .when(isOpen(now, windowMs))
            .then(eb.ref('request_counts.window_end'))
            .else(eb.ref('excluded.window_end'))
            .end(),
        })),
      )
      .returningAll()
      .execute()
    return new Map(rows.map(({ counted, requests, window_end }) => [counted, { requests, windowEnd: window_end }]))
  },
})
