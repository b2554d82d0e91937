import { rightToApply } from '../../src/client/run.ts'
import type { Plan } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'

/** Whether this caller may apply the plan now. */
export const mayBeApplied = (plan: Pick<Plan, 'state' | 'request'>, { caller }: Pick<Policy, 'caller'>): boolean =>
  caller.may.includes(rightToApply(plan)) && (plan.state === 'planned' || plan.state === 'rolled_back')
