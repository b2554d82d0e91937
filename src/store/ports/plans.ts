import type { Plan, PlanState } from '../../model/exposure.ts'

/** Where a list of plans goes on: the last one seen. */
export type PlanPlace = Pick<Plan, 'createdAt' | 'planId'>

/** Plans, in whatever state. */
export interface PlanStore {
  insertPlan(plan: Plan): Promise<void>
  findPlan(planId: string): Promise<Plan | undefined>
  /** Newest first, at most `limit`, those after `before` only. */
  listPlans(page: { before?: PlanPlace | undefined; limit: number }): Promise<Plan[]>
  /** Moves a plan on only if it is still in one of `from`. False when it is not. */
  movePlan(planId: string, from: readonly PlanState[], to: PlanState): Promise<boolean>
}
