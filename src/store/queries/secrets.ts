import type { Kysely } from 'kysely'
import type { SecretStore, StoredCertificate } from '../ports/secrets.ts'
import type { CertificateRow, Schema } from '../schema.ts'

export const secretsIn = (db: Kysely<Schema>): SecretStore => ({ ...sealedIn(db), ...sealingIn(db), ...pairsIn(db) })

type Sealed = Pick<SecretStore, 'findSecret' | 'putSecret' | 'deleteSecret' | 'listSecrets'>

const sealedIn = (db: Kysely<Schema>): Sealed => ({
  findSecret: (name) =>
    db.selectFrom('secrets').select(['name', 'key_id as keyId', 'sealed']).where('name', '=', name).executeTakeFirst(),

  async putSecret({ name, keyId, sealed }, at) {
    const given = { key_id: keyId, sealed, written_at: at }
    await db
      .insertInto('secrets')
      .values({ name, ...given })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(given))
      .execute()
  },

  async deleteSecret(name) {
    await db.deleteFrom('secrets').where('name', '=', name).execute()
  },

  listSecrets: () => db.selectFrom('secrets').select(['name', 'key_id as keyId', 'sealed']).orderBy('name').execute(),
})

type Sealing = Pick<SecretStore, 'sealingKey' | 'holdSealingKey' | 'setSealingKey'>

const sealingIn = (db: Kysely<Schema>): Sealing => ({
  async sealingKey() {
    const { key_id } = await db.selectFrom('store_identity').select('key_id').executeTakeFirstOrThrow()
    return key_id ?? undefined
  },

  /** Writes the row without a change: this locks it until the transaction ends. */
  async holdSealingKey() {
    const { key_id } = await db
      .updateTable('store_identity')
      .set((eb) => ({ key_id: eb.ref('key_id') }))
      .returning('key_id')
      .executeTakeFirstOrThrow()
    return key_id ?? undefined
  },

  async setSealingKey(keyId, expected) {
    const { numUpdatedRows } = await db
      .updateTable('store_identity')
      .set({ key_id: keyId })
      .where('key_id', expected === undefined ? 'is' : '=', expected ?? null)
      .executeTakeFirst()
    return numUpdatedRows === 1n
  },
})

type Pairs = Pick<
  SecretStore,
  | 'putCertificate'
  | 'deleteCertificate'
  | 'listCertificates'
  | 'certificatesOf'
  | 'certificateNamesSince'
  | 'newestCertificate'
>

const pairsIn = (db: Kysely<Schema>): Pairs => {
  const oldestFirst = () => db.selectFrom('certificates').selectAll().orderBy('stored_at').orderBy('fingerprint')
  return {
    async putCertificate({ fingerprint, firstName, chain, storedAt }) {
      await db
        .insertInto('certificates')
        .values({ fingerprint, first_name: firstName, chain, stored_at: storedAt })
        .onConflict((conflict) => conflict.column('fingerprint').doNothing())
        .execute()
    },

    async deleteCertificate(fingerprint) {
      await db.deleteFrom('certificates').where('fingerprint', '=', fingerprint).execute()
    },

    listCertificates: async () => (await oldestFirst().execute()).map(stored),

    certificatesOf: async (firstName) =>
      (await oldestFirst().where('first_name', '=', firstName).execute()).map(stored),

    async certificateNamesSince(storedAt) {
      const rows = await db
        .selectFrom('certificates')
        .select('first_name')
        .distinct()
        .where('stored_at', '>', storedAt)
        .orderBy('first_name')
        .execute()
      return rows.map(({ first_name }) => first_name)
    },

    async newestCertificate() {
      const { newest } = await db
        .selectFrom('certificates')
        .select((eb) => eb.fn.max('stored_at').as('newest'))
        .executeTakeFirstOrThrow()
      return newest ?? 0
    },
  }
}

const stored = ({ fingerprint, first_name, chain, stored_at }: CertificateRow): StoredCertificate => ({
  ...{ fingerprint, chain },
  firstName: first_name,
  storedAt: stored_at,
})
