import type { Kysely } from 'kysely'
import type { StoreSession } from './contract.ts'
import type { Schema } from './schema.ts'

type Orders = Pick<StoreSession, 'findOrder' | 'putOrder' | 'deleteOrder'>

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
