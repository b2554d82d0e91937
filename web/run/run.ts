import { type Action, isUnderWay, type Plan, type RunEvent } from '../api/plans.ts'
import { useFollowing } from './following.ts'

interface RunOfPlan {
  readonly isRunning: boolean
  readonly action: Action
  readonly events: readonly RunEvent[]
}

/** The newest run of a plan, live and afterwards. `requested`: what was requested and has not begun yet. */
export function useRun(plan: Plan, requested: Action | undefined): RunOfPlan {
  const isRunning = isUnderWay(plan)
  const live = useFollowing(plan.planId, isRunning)
  const last = plan.runs?.at(-1)
  const isNew = live.length > 0 && live[0]?.id !== last?.events[0]?.id
  return {
    isRunning: isRunning || requested !== undefined,
    action: actionOf(plan, requested ?? last?.action),
    // The events of the run before it are not those of a run that has not begun yet.
    events: isRunning || isNew ? live : requested === undefined ? (last?.events ?? []) : [],
  }
}

/** To apply a plan that replaces another one is to change its exposure. */
const actionOf = ({ request }: Plan, action: Action = 'apply'): Action =>
  action === 'apply' && request.replaces !== undefined ? 'update' : action
