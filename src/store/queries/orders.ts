import type { Kysely } from 'kysely'
import type { LedgerLine } from '../../model/ledger.ts'
import type { OrderStore } from '../ports/orders.ts'
import type { LedgerRow, Schema } from '../schema.ts'

type Orders = Pick<OrderStore, 'findOrder' | 'putOrder' | 'deleteOrder'>

export const ordersIn = (db: Kysely<Schema>): Orders => ({
  async findOrder(names, directory) {
    return db
      .selectFrom('orders')
      .select(['names', 'directory', 'url', 'key_file as keyFile', 'created_at as createdAt'])
      .where('names', '=', names)
      .where('directory', '=', directory)
      .executeTakeFirst()
  },

  async putOrder({ names, directory, url, keyFile, createdAt }) {
    const latest = { url, key_file: keyFile, created_at: createdAt }
    await db
      .insertInto('orders')
      .values({ names, directory, ...latest })
      .onConflict((conflict) => conflict.columns(['names', 'directory']).doUpdateSet(latest))
      .execute()
  },

  async deleteOrder(names, directory) {
    await db.deleteFrom('orders').where('names', '=', names).where('directory', '=', directory).execute()
  },
})

type Ledger = Pick<OrderStore, 'holdLedger' | 'appendLedger' | 'readLedger' | 'pauseAuthority' | 'authorityPause'>

const NEW_AUTHORITY = { lines: 0, new_orders_paused_until: 0, paused_until: 0 }

export const ledgerIn = (db: Kysely<Schema>): Ledger => ({
  /** Writes the row without a change: this locks it until the transaction ends. */
  async holdLedger(directory) {
    await db
      .insertInto('authorities')
      .values({ directory, ...NEW_AUTHORITY })
      .onConflict((conflict) => conflict.column('directory').doUpdateSet({ directory }))
      .execute()
  },

  async appendLedger({ directory, names, kind, at, unproven }) {
    const { lines: seq } = await db
      .insertInto('authorities')
      .values({ directory, ...NEW_AUTHORITY, lines: 1 })
      .onConflict((conflict) =>
        conflict.column('directory').doUpdateSet((eb) => ({ lines: eb('authorities.lines', '+', 1) })),
      )
      .returning('lines')
      .executeTakeFirstOrThrow()
    await db
      .insertInto('ledger')
      .values({ directory, seq, at, names, kind, unproven: unproven.join(',') })
      .execute()
  },

  async readLedger({ directory, since, names }) {
    const all = db.selectFrom('ledger').selectAll().where('directory', '=', directory).where('at', '>=', since)
    const rows = await (names === undefined ? all : all.where('names', '=', names)).orderBy('seq').execute()
    return rows.map(toLine)
  },

  async pauseAuthority(directory, { newOrders, everything }, latest) {
    const later = (column: 'new_orders_paused_until' | 'paused_until', until: number) =>
      db
        .updateTable('authorities')
        .set({ [column]: until })
        .where('directory', '=', directory)
        .where((eb) => eb.or([eb(column, '<', until), eb(column, '>', latest)]))
        .execute()
    await db
      .insertInto('authorities')
      .values({ directory, ...NEW_AUTHORITY })
      .onConflict((conflict) => conflict.column('directory').doNothing())
      .execute()
    await later('new_orders_paused_until', newOrders)
    await later('paused_until', everything)
  },

  async authorityPause(directory) {
    const row = await db
      .selectFrom('authorities')
      .select(['new_orders_paused_until as newOrders', 'paused_until as everything'])
      .where('directory', '=', directory)
      .executeTakeFirst()
    return row ?? { newOrders: 0, everything: 0 }
  },
})

const toLine = ({ directory, names, kind, at, unproven }: LedgerRow): LedgerLine => ({
  directory,
  names,
  kind,
  at,
  unproven: unproven === '' ? [] : unproven.split(','),
})
