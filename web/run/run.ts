import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { type Action, isUnderWay, type Plan, type RunEvent } from '../api/plans.ts'
import { endOfRun } from './end-of-run.ts'
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
  useReadAgain(endOfRun(plan, isRunning))
  const last = plan.runs?.at(-1)
  const isNew = live.length > 0 && live[0]?.id !== last?.events[0]?.id
  return {
    isRunning: isRunning || requested !== undefined,
    action: actionOf(plan, requested ?? last?.action),
    // The events of the run before it are not those of a run that has not begun yet.
    events: isRunning || isNew ? live : requested === undefined ? (last?.events ?? []) : [],
  }
}

/**
 * Reads again what a run has changed. The plan says that the run has ended, because the stream of a short run may not open
 * before its end.
 */
function useReadAgain(end: string | undefined): void {
  const queries = useQueryClient()
  const seen = useRef(end)
  useEffect(() => {
    const isNew = end !== undefined && end !== seen.current
    seen.current = end
    if (!isNew) return
    for (const key of ['plans', 'hosts', 'drift', 'diagnosis']) void queries.invalidateQueries({ queryKey: [key] })
  }, [end, queries])
}

/** To apply a plan that replaces another one is to change its exposure. */
const actionOf = ({ request }: Plan, action: Action = 'apply'): Action =>
  action === 'apply' && request.replaces !== undefined ? 'update' : action
