import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Refusal } from '../../src/client/index.ts'
import { useHosts } from '../api/hosts.ts'
import { makePlan, type Plan } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { Panel } from '../parts/Panel.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { go } from '../shell/location.ts'
import { Page } from '../shell/Page.tsx'
import { Checks } from './Checks.tsx'
import { type Draft, draftOf, firstDraft, isSameDraft, requestOf } from './draft.ts'
import { keepDraft, keptDraft } from './kept-draft.ts'
import { PlanForm } from './PlanForm.tsx'
import styles from './PlanPage.module.css'
import { checksIn, refusedFields, refusedOptions } from './refused.ts'

interface PlanPageProps {
  readonly policy: Policy
  /** The applied plan whose place the new one takes. */
  readonly former?: Plan
}

/** Makes a plan and shows it. A plan changes nothing. */
export default function PlanPage({ policy, former }: PlanPageProps) {
  const queries = useQueryClient()
  const empty = former ? draftOf(former.request) : firstDraft(policy)
  const row = useHosts().data?.rows.find(({ host }) => host === former?.host)
  // Extending changes the end of an exposure and not its plan.
  const isPermanent = former !== undefined && row?.expiresAt === null
  const place = former ? `change ${former.planId}` : 'plan'
  const [draft, setDraft] = useState<Draft>(() => ({ ...empty, ...keptDraft(place) }))
  const asking = useMutation({
    mutationFn: (asked: Draft) =>
      makePlan({ ...requestOf(asked, isPermanent), ...(former && { replaces: former.planId }) }),
    onSuccess: (plan) => {
      queries.setQueryData(['plan', plan.planId], plan)
      void queries.invalidateQueries({ queryKey: ['plans'] })
      // The plan has its own address, so that a reload shows it and the run of its apply.
      go(`/plans/${plan.planId}`)
    },
  })
  const [isShown, setIsShown] = useState(false)
  const problem = asking.error instanceof Refusal ? asking.error.problem : undefined
  const checks = (problem && checksIn(problem)) ?? []
  const isChecked = checks.length > 0
  const change = (next: Draft) => {
    setDraft(next)
    keepDraft(place, next)
    if (asking.isPending || asking.isIdle) return
    asking.reset()
    setIsShown(false)
  }
  return (
    <Page title={former ? `Change ${former.host}` : 'Expose a service'} lead={former ? CHANGE_LEAD : PLAN_LEAD}>
      <div className={styles.columns}>
        <Panel title={former ? 'What do you want to change?' : 'What do you want to expose?'}>
          <PlanForm
            policy={policy}
            draft={draft}
            isNameFixed={former !== undefined}
            isPermanent={isPermanent}
            onChange={change}
            onSubmit={() => {
              setIsShown(false)
              asking.mutate(draft)
            }}
            isBusy={asking.isPending}
            onClear={isSameDraft(draft, empty) ? undefined : () => change(empty)}
            refused={problem ? refusedFields(problem, draft) : {}}
            refusedOptions={problem ? refusedOptions(problem) : {}}
          />
        </Panel>
        <div className={styles.answer}>
          <Panel title="Four checks" aside={asking.isPending && <span role="status">Looking…</span>}>
            <Checks
              key={asking.submittedAt}
              isRunning={asking.isPending}
              checks={checks}
              problem={problem}
              onShown={() => setIsShown(true)}
            />
          </Panel>
          {asking.error && !isChecked && <Trouble fault={asking.error} />}
          {problem && isChecked && isShown && (
            <p className={styles.verdict} role="status">
              <strong>Refused: {problem.title}.</strong> No plan was made. Change what is marked and check again.
            </p>
          )}
        </div>
      </div>
    </Page>
  )
}

const PLAN_LEAD =
  'Gives a backend a name, a proxy entry and a certificate. A plan only looks: nothing is changed until someone inside applies it.'
const CHANGE_LEAD =
  'Makes a plan that takes the place of the applied one. Visitors notice no gap. Nothing is changed until the new plan is applied.'
