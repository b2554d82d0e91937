import { usePlan } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { Notice } from '../parts/Notice.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { Link } from '../shell/Link.tsx'
import { Page } from '../shell/Page.tsx'
import PlanPage from './PlanPage.tsx'

const isInside = ({ caller }: Policy): boolean => caller.network === 'internal'

/** The plan form, filled with the request of an applied plan, to make a plan that takes its place. */
export default function ChangePage({ planId, policy }: { readonly planId: string; readonly policy: Policy }) {
  const { data: plan, error, isPending, refetch } = usePlan(planId)
  if (plan?.state === 'applied' && isInside(policy)) return <PlanPage policy={policy} former={plan} />
  return (
    <Page title={plan ? `Change ${plan.host}` : 'Change'}>
      {isPending && <Skeleton lines={8} what="the plan" />}
      {!plan && !isPending && <Trouble fault={error} again={() => void refetch()} />}
      {plan && (
        <Notice
          tone="calm"
          title={
            isInside(policy) ? 'Only an applied plan can be changed' : 'Exposures are changed from the internal network'
          }
        >
          <p>
            <Link to={`/plans/${planId}`}>Open plan</Link> or <Link to="/plan">expose a service</Link>.
          </p>
        </Notice>
      )}
    </Page>
  )
}
