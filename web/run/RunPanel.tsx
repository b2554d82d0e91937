import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { client } from '../api/client.ts'
import type { Action, Plan, RequestedAction } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { Button } from '../parts/Button.tsx'
import { Panel } from '../parts/Panel.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { draftOf } from '../plan/draft.ts'
import { forgetDrafts, keepDraft } from '../plan/kept-draft.ts'
import { go } from '../shell/location.ts'
import { ApplyDialog } from './ApplyDialog.tsx'
import { RemoveDialog } from './RemoveDialog.tsx'
import styles from './RunPanel.module.css'
import { RunStory } from './RunStory.tsx'
import { useRun } from './run.ts'

/** The controls that change something, for callers who may use them, and their results. */
export function RunPanel({ plan, policy }: { readonly plan: Plan; readonly policy: Policy }) {
  const queries = useQueryClient()
  const place = useRef<HTMLDivElement>(null)
  const [asked, setAsked] = useState<RequestedAction | undefined>()
  const running = useMutation({
    mutationFn: (action: RequestedAction) => client.beginRun(plan.planId, action),
    onSettled: () => queries.invalidateQueries({ queryKey: ['plan', plan.planId] }),
  })
  const { isRunning, action, events } = useRun(plan, running.isPending ? running.variables : undefined)
  const begin = (wanted: RequestedAction) => {
    setAsked(undefined)
    running.mutate(wanted)
    if (wanted === 'apply') forgetDrafts(plan.host)
    // The run replaces the pressed button.
    requestAnimationFrame(() => place.current?.focus())
  }
  const mayApply = policy.caller.may.includes('apply') && (plan.state === 'planned' || plan.state === 'rolled_back')
  const mayChange = policy.caller.may.includes('apply') && plan.state === 'applied'
  const mayRemove = policy.caller.may.includes('remove') && plan.state === 'applied'
  const mayPlanAgain = plan.state === 'removed' || plan.state === 'rolled_back' || plan.state === 'expired'
  const planAgain = () => {
    keepDraft('plan', draftOf(plan.request))
    go('/plan')
  }
  const mayAct = mayApply || mayChange || mayRemove || mayPlanAgain
  const isShown = mayAct || isRunning || events.length > 0
  if (!isShown && !running.error) return null
  return (
    <Panel title={events.length > 0 || isRunning ? TITLES[action] : 'Apply this plan'}>
      <div ref={place} tabIndex={-1} className={styles.story}>
        {running.error && <Trouble fault={running.error} />}
        {(events.length > 0 || isRunning) && (
          <RunStory plan={plan} action={action} events={events} isRunning={isRunning} />
        )}
      </div>
      {mayAct && !isRunning && (
        <div className={styles.actions}>
          {mayApply && (
            <Button look="main" onClick={() => setAsked('apply')}>
              {plan.state === 'rolled_back' ? 'Apply again' : 'Apply'}
            </Button>
          )}
          {mayChange && <Button onClick={() => go(`/plans/${plan.planId}/change`)}>Change…</Button>}
          {mayPlanAgain && <Button onClick={planAgain}>Plan again</Button>}
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
  converge: 'Update of an edge',
}
