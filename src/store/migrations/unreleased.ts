import type { Kysely } from 'kysely'
import { UnusableStore } from '../dialects/engine.ts'
import type { Schema } from '../schema.ts'

/**
 * Plans of versions that were never released may lack steps, proof or exposure id. Those that are over go, with their runs: the audit
 * keeps what was done. A host that is still exposed by one is refused.
 */
export async function dropUnreleased(db: Kysely<Schema>): Promise<void> {
  const plans = db
    .selectFrom('plans')
    .select('plan_id')
    .where((eb) => eb.or((['steps', 'proof', 'exposure_id'] as const).map((column) => eb(column, 'is', null))))
  const live = await db
    .selectFrom('exposures')
    .select('host')
    .where((eb) => eb.or([eb('plan_id', 'in', plans), eb('receipt', 'not like', '{"version":2,%')]))
    .orderBy('host')
    .execute()
  if (live[0])
    throw new UnusableStore(
      `${live.length} of its exposures, such as ${live[0].host}, were made by a version that was never released. Nothing was changed. ` +
        'Start the former Drawbridge again, take each of them down and up (drawbridge down, drawbridge up), then start this one.',
    )
  await db.deleteFrom('runs').where('plan_id', 'in', plans).execute()
  await db.deleteFrom('plans').where('plan_id', 'in', plans).execute()
  // Who made them is in the audit only. The network that is trusted least is told.
  await db.updateTable('plans').set({ network: 'public' }).where('network', 'is', null).execute()
}
