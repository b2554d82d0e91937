import { usePlan } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Notice } from '../parts/Notice.tsx'
import { Panel } from '../parts/Panel.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { RepairPanel } from '../repair/RepairPanel.tsx'
import { wordsFor } from '../run/steps.ts'
import { Link } from '../shell/Link.tsx'
import { Changes } from './Changes.tsx'
import { Commands } from './Commands.tsx'
import { Life } from './Life.tsx'
import { OwnerFacts } from './OwnerFacts.tsx'
import styles from './PlanSheet.module.css'
import { PlanStateMark } from './PlanStateMark.tsx'

/** The changes of a plan, its expiry, and the ways to apply it. */
export function PlanSheet({ planId, policy }: { readonly planId: string; readonly policy: Policy }) {
  const { data: plan, error, isPending, refetch } = usePlan(planId)
  const { data: former } = usePlan(plan?.request.replaces)
  if (isPending) return <Skeleton lines={6} what="the plan" />
  if (!plan) return <Trouble fault={error} again={() => void refetch()} />
  const { replaces } = plan.request
  const isInside = policy.caller.may.includes('apply')
  return (
    <>
      <Panel title="What changes" aside={<PlanStateMark state={plan.state} />}>
        <Changes plan={plan} former={former} />
        {plan.steps.length > 0 && (
          <div className={styles.order}>
            <h3>Steps</h3>
            <ol aria-label="Order of the apply">
              {plan.steps.map((step) => (
                <li key={step}>{wordsFor(step, 'apply')}</li>
              ))}
            </ol>
          </div>
        )}
        <dl className={styles.facts}>
          <div>
            <dt>Plan</dt>
            <dd>
              <code>{plan.planId}</code>
              <CopyButton text={plan.planId} what="the plan id" />
            </dd>
          </div>
          {replaces && (
            <div>
              <dt>{plan.state === 'applied' ? 'Replaced' : 'Replaces'}</dt>
              <dd>
                <Link to={`/plans/${replaces}`}>The plan before it</Link>
              </dd>
            </div>
          )}
          <OwnerFacts request={plan.request} />
          <Life plan={plan} />
        </dl>
      </Panel>
      {plan.state === 'released' && (
        <Notice tone="calm" title={`${plan.host} is no longer managed by Drawbridge`}>
          <p>It was accepted as it stood. It stays on the air, and nobody renews its certificate or removes it here.</p>
        </Notice>
      )}
      {plan.state === 'applied' && <RepairPanel plan={plan} policy={policy} />}
      {(plan.state === 'planned' || plan.state === 'rolled_back' || plan.state === 'applied') && (
        <Panel title={isInside ? 'The same from a shell' : 'For someone inside'}>
          <Commands plan={plan} policy={policy} />
        </Panel>
      )}
    </>
  )
}
