import { Kysely } from 'kysely'
import { MIGRATIONS, versionOf } from './migrations.ts'
import { engineOf, type StoreSetting } from './open.ts'
import type { Schema } from './schema.ts'

/** The newest schema that this program knows. */
export const NEWEST_SCHEMA = MIGRATIONS.length

/** The version of a store's schema, 0 for one without any. Brings nothing up to date. Rejects when it cannot be reached. */
export async function schemaVersion(setting: StoreSetting): Promise<number> {
  const db = new Kysely<Schema>({ dialect: (await engineOf(setting)).dialect })
  return versionOf(db).finally(() => db.destroy().catch(() => {}))
}
