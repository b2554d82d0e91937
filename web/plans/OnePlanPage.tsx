import { usePlan } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { Panel } from '../parts/Panel.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { Checks } from '../plan/Checks.tsx'
import { PlanSheet } from '../plan/PlanSheet.tsx'
import { RunPanel } from '../run/RunPanel.tsx'
import { Link } from '../shell/Link.tsx'
import { Page } from '../shell/Page.tsx'
import styles from './OnePlanPage.module.css'
import { Timeline } from './Timeline.tsx'

/** One plan and its whole history. */
export default function OnePlanPage({ planId, policy }: { readonly planId: string; readonly policy: Policy }) {
  const { data: plan, error, isPending, refetch } = usePlan(planId)
  if (!plan) {
    return (
      <Page title="Plan">
        {isPending ? <Skeleton lines={8} what="the plan" /> : <Trouble fault={error} again={() => void refetch()} />}
      </Page>
    )
  }
  const { server, port, health, tls } = plan.request
  return (
    <Page
      title={plan.host}
      lead={
        <>
          Backend on server {server}, port {port}, health path <code>{health}</code>, {tls ? 'HTTPS' : 'plain HTTP'}.{' '}
          <Link to={`/hosts/${plan.host}`}>View status</Link>
        </>
      }
    >
      <RunPanel plan={plan} policy={policy} />
      <div className={styles.columns}>
        <div className={styles.main}>
          <PlanSheet planId={planId} policy={policy} />
        </div>
        <div className={styles.side}>
          <Panel title="Timeline">
            <Timeline plan={plan} />
          </Panel>
          <Panel title="Checked when it was made">
            <Checks isRunning={false} checks={plan.checks} areOld />
          </Panel>
        </div>
      </div>
    </Page>
  )
}
