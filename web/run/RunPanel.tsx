import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { client } from '../api/client.ts'
import { useHosts } from '../api/hosts.ts'
import type { Action, Plan, RequestedAction } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { Button } from '../parts/Button.tsx'
import { Panel } from '../parts/Panel.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { deedsOf } from '../plan/contrasts.ts'
import { draftOf } from '../plan/draft.ts'
import { forgetDrafts, keepDraft } from '../plan/kept-draft.ts'
import { useAsked } from '../shell/asked.ts'
import { go } from '../shell/location.ts'
import { ApplyDialog } from './ApplyDialog.tsx'
import { formToPlanAgain } from './plan-again.ts'
import { RemoveDialog } from './RemoveDialog.tsx'
import styles from './RunPanel.module.css'
import { RunStory } from './RunStory.tsx'
import { mayBeApplied } from './rights.ts'
import { useRun } from './run.ts'

/** What another screen can ask for here. */
const FROM_ADDRESS = ['remove'] as const

/** The controls that change something, for callers who may use them, and their results. */
export function RunPanel({ plan, policy }: { readonly plan: Plan; readonly policy: Policy }) {
  const queries = useQueryClient()
  const place = useRef<HTMLDivElement>(null)
  const [asked, setAsked] = useAsked<RequestedAction>(FROM_ADDRESS)
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
  const mayApply = mayBeApplied(plan, policy)
  const mayChange = policy.caller.may.includes('apply') && plan.state === 'applied'
  const mayRemove = policy.caller.may.includes('remove') && plan.state === 'applied'
  const mayPlanAgain = plan.state === 'removed' || plan.state === 'rolled_back' || plan.state === 'expired'
  const hosts = useHosts().data
  const planAgain = () => {
    const { to, form } = formToPlanAgain(plan, hosts)
    if (form !== undefined) keepDraft(form, draftOf(plan.request))
    go(to)
  }
  const mayAct = mayApply || mayChange || mayRemove || mayPlanAgain
  const hasStory = events.length > 0 || isRunning
  const actions = mayAct && !isRunning && (
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
  )
  if (!hasStory && !mayAct && !running.error && plan.state !== 'planned') return null
  // One place for both, so that the focus stays when the run replaces the button.
  return (
    <div ref={place} tabIndex={-1} className={styles.place}>
      {hasStory ? (
        <Panel title={TITLES[action]}>
          {running.error && <Trouble fault={running.error} />}
          <RunStory plan={plan} action={action} events={events} isRunning={isRunning} />
          {actions}
        </Panel>
      ) : (
        <div className={styles.bar} data-state={plan.state}>
          {plan.state === 'planned' && <Verdict plan={plan} policy={policy} />}
          {running.error && <Trouble fault={running.error} />}
          {actions}
        </div>
      )}
      {asked === 'apply' && mayApply && (
        <ApplyDialog plan={plan} policy={policy} onCancel={() => setAsked(undefined)} onApply={() => begin('apply')} />
      )}
      {asked === 'remove' && mayRemove && (
        <RemoveDialog
          what={plan.host}
          typed={plan.host}
          owners={[plan.request.owner]}
          list={deedsOf(plan, 'remove')}
          onCancel={() => setAsked(undefined)}
          onRemove={() => begin('remove')}
        >
          <p className={styles.target}>
            Backend on server {plan.request.server}, port {plan.request.port}.
          </p>
        </RemoveDialog>
      )}
    </div>
  )
}

/** What the plan has found out, beside the button that applies it. */
function Verdict({ plan, policy }: { readonly plan: Plan; readonly policy: Policy }) {
  const { host, request } = plan
  // Only adopting can be off for callers inside.
  const hindrance =
    policy.caller.network === 'internal'
      ? 'Adopting hand-written sites is off: adopt.enabled is false.'
      : 'Somebody inside applies it.'
  return (
    <p className={styles.verdict} role="status">
      <strong>
        {host} can be {request.adopt ? 'adopted' : request.replaces === undefined ? 'exposed' : 'changed'}.
      </strong>{' '}
      Nothing has been changed yet.{!mayBeApplied(plan, policy) && ` ${hindrance}`}
    </p>
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
