import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

/** The incidents of a host are read from its events. */
export async function eventsByHost(db: Kysely<Schema>): Promise<void> {
  await db.schema.createIndex('events_by_host').on('events').columns(['host', 'seq']).execute()
}
