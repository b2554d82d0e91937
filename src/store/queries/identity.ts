import type { Kysely } from 'kysely'
import type { StoreIdentity } from '../ports/identity.ts'
import type { Schema } from '../schema.ts'

export const identityIn = (db: Kysely<Schema>): StoreIdentity => ({
  async epoch() {
    const { epoch } = await db.selectFrom('store_identity').select('epoch').executeTakeFirstOrThrow()
    return epoch
  },

  async storeId() {
    const { store_id } = await db.selectFrom('store_identity').select('store_id').executeTakeFirstOrThrow()
    return store_id
  },
})
