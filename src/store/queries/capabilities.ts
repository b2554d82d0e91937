import type { Kysely } from 'kysely'
import type { CapabilityStore, PresentedCapability, SpendOutcome } from '../ports/capabilities.ts'
import type { Schema } from '../schema.ts'

export const capabilitiesIn = (db: Kysely<Schema>): CapabilityStore => ({
  async insertCapability(capability) {
    await db
      .insertInto('capabilities')
      .values({
        hash: capability.hash,
        plan_id: capability.planId,
        digest: capability.digest,
        action: capability.action,
        ip: capability.ip,
        issued_at: capability.issuedAt,
        expires_at: capability.expiresAt,
        used_at: null,
      })
      .execute()
  },

  async spendCapability(presented, now) {
    const { numUpdatedRows } = await db
      .updateTable('capabilities')
      .set({ used_at: now })
      .where('hash', '=', presented.hash)
      .where('plan_id', '=', presented.planId)
      .where('digest', '=', presented.digest)
      .where('action', '=', presented.action)
      .where('ip', '=', presented.ip)
      .where('used_at', 'is', null)
      .where('expires_at', '>', now)
      .executeTakeFirst()
    return numUpdatedRows === 1n ? 'spent' : await whyNotSpent(db, presented)
  },

  async spentCapabilities() {
    const rows = await db
      .selectFrom('capabilities')
      .select(['plan_id', 'action', ({ fn }) => fn.countAll<number | bigint | string>().as('count')])
      .where('used_at', 'is not', null)
      .groupBy(['plan_id', 'action'])
      .execute()
    return rows.map(({ plan_id: planId, action, count }) => ({ planId, action, count: Number(count) }))
  },
})

/** Finds the reason of a refusal. The conditional statement has decided already. */
async function whyNotSpent(db: Kysely<Schema>, presented: PresentedCapability): Promise<SpendOutcome> {
  const row = await db.selectFrom('capabilities').selectAll().where('hash', '=', presented.hash).executeTakeFirst()
  if (!row) return 'unknown'
  const matches =
    row.plan_id === presented.planId &&
    row.digest === presented.digest &&
    row.action === presented.action &&
    row.ip === presented.ip
  if (!matches) return 'mismatched'
  return row.used_at === null ? 'expired' : 'used'
}
