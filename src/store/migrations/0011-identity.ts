import type { Kysely } from 'kysely'
import type { Clock } from '../../primitives/clock.ts'
import type { Schema } from '../schema.ts'

/** The epoch of a store that exists already is the time of this upgrade. */
export async function identity(db: Kysely<Schema>, { now }: Clock): Promise<void> {
  await db.schema
    .createTable('store_identity')
    .addColumn('id', 'bigint', (column) => column.primaryKey().notNull())
    .addColumn('epoch', 'bigint', (column) => column.notNull())
    .execute()
  await db.insertInto('store_identity').values({ id: 1, epoch: now() }).execute()
}
