import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { client } from '../api/client.ts'
import type { Action, Plan, RequestedAction } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { Button } from '../parts/Button.tsx'
import { Panel } from '../parts/Panel.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { go } from '../shell/location.ts'
import { ApplyDialog } from './ApplyDialog.tsx'
import { useFollowing } from './following.ts'
import { RemoveDialog } from './RemoveDialog.tsx'
import styles from './RunPanel.module.css'
import { RunStory } from './RunStory.tsx'

/** The controls that change something, for callers who may use them, and their results. */
export function RunPanel({ plan, policy }: { readonly plan: Plan; readonly policy: Policy }) {
  const queries = useQueryClient()
  const place = useRef<HTMLDivElement>(null)
  const [asked, setAsked] = useState<RequestedAction | undefined>()
  const running = useMutation({
    mutationFn: (action: RequestedAction) => client.beginRun(plan.planId, action),
    onSettled: () => queries.invalidateQueries({ queryKey: ['plan', plan.planId] }),
  })
  const isRunning = plan.state === 'applying' || plan.state === 'removing'
  const live = useFollowing(plan.planId, isRunning)
  const last = plan.runs?.at(-1)
  const isNew = live.length > 0 && live[0]?.id !== last?.events[0]?.id
  const events = isRunning || isNew ? live : (last?.events ?? [])
  const action = actionOf(plan, running.isPending ? running.variables : last?.action)
  const begin = (wanted: RequestedAction) => {
    setAsked(undefined)
    running.mutate(wanted)
    // The run replaces the pressed button.
    requestAnimationFrame(() => place.current?.focus())
  }
  const mayApply = policy.caller.may.includes('apply') && (plan.state === 'planned' || plan.state === 'rolled_back')
  const mayChange = policy.caller.may.includes('apply') && plan.state === 'applied'
  const mayRemove = policy.caller.may.includes('remove') && plan.state === 'applied'
  const mayAct = mayApply || mayChange || mayRemove
  const isShown = mayAct || isRunning || running.isPending || events.length > 0
  if (!isShown && !running.error) return null
  return (
    <Panel title={events.length > 0 || isRunning ? TITLES[action] : 'Make it real'}>
      <div ref={place} tabIndex={-1} className={styles.story}>
        {running.error && <Trouble fault={running.error} />}
        {(events.length > 0 || isRunning || running.isPending) && (
          <RunStory plan={plan} action={action} events={events} isRunning={isRunning || running.isPending} />
        )}
      </div>
      {mayAct && !running.isPending && (
        <div className={styles.actions}>
          {mayApply && (
            <Button look="main" onClick={() => setAsked('apply')}>
              {plan.state === 'rolled_back' ? 'Apply again' : 'Apply'}
            </Button>
          )}
          {mayChange && <Button onClick={() => go(`/plans/${plan.planId}/change`)}>Change…</Button>}
          {mayRemove && <Button onClick={() => setAsked('remove')}>Remove…</Button>}
        </div>
      )}
      {asked === 'apply' && (
        <ApplyDialog plan={plan} policy={policy} onCancel={() => setAsked(undefined)} onApply={() => begin('apply')} />
      )}
      {asked === 'remove' && (
        <RemoveDialog plan={plan} onCancel={() => setAsked(undefined)} onRemove={() => begin('remove')} />
      )}
    </Panel>
  )
}

const TITLES: Record<Action, string> = {
  apply: 'Apply',
  update: 'Change',
  remove: 'Removal',
  repair: 'Repair',
  accept: 'Accept',
  renew: 'Renewal',
}

/** The current run, or else the last result or request. */
function actionOf({ state, request }: Plan, last: Action = 'apply'): Action {
  if (state === 'removing') return 'remove'
  const action = state === 'applying' ? 'apply' : last
  return action === 'apply' && request.replaces !== undefined ? 'update' : action
}
