import type { Kysely } from 'kysely'
import type { Plan } from '../../model/exposure.ts'
import type { PlanStore } from '../ports/plans.ts'
import type { PlanRow, Schema } from '../schema.ts'
import { statement } from '../statement.ts'

const findOne = statement((db, { planId }: { planId: string }) =>
  db.selectFrom('plans').selectAll().where('plan_id', '=', planId),
)

export const plansIn = (db: Kysely<Schema>): PlanStore => ({
  async insertPlan(plan) {
    await db.insertInto('plans').values(toRow(plan)).execute()
  },

  async findPlan(planId) {
    const [row] = (await findOne(db, { planId })).rows
    return row && toPlan(row)
  },

  async findPlans(planIds) {
    if (planIds.length === 0) return []
    const rows = await db.selectFrom('plans').selectAll().where('plan_id', 'in', planIds).execute()
    return rows.map(toPlan)
  },

  async listPlans({ before, limit }) {
    const newest = db
      .selectFrom('plans')
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('plan_id', 'desc')
      .limit(limit)
    const page = before
      ? newest.where((eb) => eb(eb.refTuple('created_at', 'plan_id'), '<', eb.tuple(before.createdAt, before.planId)))
      : newest
    return (await page.execute()).map(toPlan)
  },

  async movePlan(planId, from, to) {
    const { numUpdatedRows } = await db
      .updateTable('plans')
      .set({ state: to })
      .where('plan_id', '=', planId)
      .where('state', 'in', from)
      .executeTakeFirst()
    return numUpdatedRows === 1n
  },
})

const toRow = (plan: Plan): PlanRow => ({
  plan_id: plan.planId,
  host: plan.host,
  state: plan.state,
  digest: plan.digest,
  created_at: plan.createdAt,
  expires_at: plan.expiresAt,
  created_by: plan.createdBy,
  url: plan.url,
  request: JSON.stringify(plan.request),
  checks: JSON.stringify(plan.checks),
  changes: JSON.stringify(plan.changes),
  steps: JSON.stringify(plan.steps),
  proof: plan.proof,
  exposure_id: plan.exposureId,
  network: plan.network,
})

const toPlan = (row: PlanRow): Plan => ({
  planId: row.plan_id,
  state: row.state,
  host: row.host,
  url: row.url,
  request: JSON.parse(row.request),
  checks: JSON.parse(row.checks),
  changes: JSON.parse(row.changes),
  digest: row.digest,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  createdBy: row.created_by,
  steps: JSON.parse(row.steps),
  proof: row.proof,
  exposureId: row.exposure_id,
  network: row.network,
})
