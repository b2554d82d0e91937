import type { Plan, PlanState } from '../../model/exposure.ts'

/** The last plan of a page. The next page begins after it. */
export type PlanCursor = Pick<Plan, 'createdAt' | 'planId'>

/** Plans in every state. */
export interface PlanStore {
  /** Rejects when a plan with this id exists. */
  insertPlan(plan: Plan): Promise<void>
  findPlan(planId: string): Promise<Plan | undefined>
  /** Those that exist, in no particular order, at most 500 at once. */
  findPlans(planIds: readonly string[]): Promise<Plan[]>
  /** Plans after the cursor `before`, newest first, at most `limit`. */
  listPlans(page: { before?: PlanCursor | undefined; limit: number }): Promise<Plan[]>
  /**
   * Changes the state of a plan whose state is one of `from`; otherwise false. Of concurrent calls at most one is true.
   */
  movePlan(planId: string, from: readonly PlanState[], to: PlanState): Promise<boolean>
}
