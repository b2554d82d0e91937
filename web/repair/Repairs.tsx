import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { client } from '../api/client.ts'
import type { Act, DiagnosedAct } from '../api/diagnosis.ts'
import { useDrift } from '../api/drift.ts'
import type { Action, Plan } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { Button } from '../parts/Button.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { RunStory } from '../run/RunStory.tsx'
import { useRun } from '../run/run.ts'
import { ActDialog } from './ActDialog.tsx'
import { allowedActs, LABELS } from './acts.ts'
import { Differences } from './Differences.tsx'
import styles from './Repairs.module.css'

interface RepairsProps {
  readonly plan: Plan
  readonly policy: Policy
  /** What helps, according to the diagnosis of the host. */
  readonly acts: readonly DiagnosedAct[]
  /** Whether to show the run that is begun here. The page of a plan shows every run anyway. */
  readonly withRun?: boolean
}

/** How a host differs from its plan, and the buttons that do something about it. */
export function Repairs({ plan, policy, acts, withRun = false }: RepairsProps) {
  const { planId, host } = plan
  const allowed = allowedActs(acts, policy)
  const drift = useDrift(allowed.length > 0 ? planId : undefined)
  const differences = drift.data?.differences ?? []
  const place = useRef<HTMLDivElement>(null)
  const [asked, setAsked] = useState<Act | undefined>()
  const doing = useAct(planId)
  const { isRunning, action, events } = useRun(plan, doing.isPending ? runOf(doing.variables) : undefined)
  const isBegun = doing.submittedAt > 0 && !doing.error
  const begin = (act: Act) => {
    setAsked(undefined)
    doing.mutate(act)
    if (withRun) requestAnimationFrame(() => place.current?.focus())
  }
  return (
    <>
      {differences.length > 0 && <Differences host={host} differences={differences} />}
      <div ref={place} tabIndex={-1} className={styles.story}>
        {doing.error && <Trouble fault={doing.error} />}
        {withRun && isBegun && <RunStory plan={plan} action={action} events={events} isRunning={isRunning} />}
      </div>
      {allowed.length > 0 && (
        <div className={styles.actions}>
          {allowed.map((act) => (
            <Button
              key={act}
              look={act === 'repair' || act === 'renew' ? 'main' : 'plain'}
              busy={isRunning}
              onClick={() => setAsked(act)}
            >
              {LABELS[act]}
            </Button>
          ))}
        </div>
      )}
      {asked && (
        <ActDialog
          act={asked}
          host={host}
          owner={plan.request.owner}
          differences={differences}
          onCancel={() => setAsked(undefined)}
          onConfirm={() => begin(asked)}
        />
      )}
    </>
  )
}

/** Begins the run of an act. */
function useAct(planId: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (act: Act) =>
      act === 'accept' || act === 'renew'
        ? client.beginRun(planId, act)
        : client.beginRepair(planId, { overwrite: act === 'overwrite' }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['plan', planId] }),
  })
}

const runOf = (act: Act): Action => (act === 'accept' || act === 'renew' ? act : 'repair')
