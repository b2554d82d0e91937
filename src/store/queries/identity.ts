import type { Kysely } from 'kysely'
import type { BackupLog, StoreIdentity } from '../ports/identity.ts'
import type { Schema } from '../schema.ts'

export const identityIn = (db: Kysely<Schema>): StoreIdentity & BackupLog => ({
  async epoch() {
    const { epoch } = await db.selectFrom('store_identity').select('epoch').executeTakeFirstOrThrow()
    return epoch
  },

  async storeId() {
    const { store_id } = await db.selectFrom('store_identity').select('store_id').executeTakeFirstOrThrow()
    return store_id
  },

  async lastBackupAt() {
    const { last_backup_at } = await db.selectFrom('store_identity').select('last_backup_at').executeTakeFirstOrThrow()
    return last_backup_at ?? undefined
  },

  async noteBackup(at) {
    await db
      .updateTable('store_identity')
      .set({ last_backup_at: at })
      .where((eb) => eb.or([eb('last_backup_at', 'is', null), eb('last_backup_at', '<', at)]))
      .execute()
  },
})
