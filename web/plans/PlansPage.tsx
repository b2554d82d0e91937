import { usePlans } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { Ago } from '../parts/Ago.tsx'
import { Button } from '../parts/Button.tsx'
import { Notice } from '../parts/Notice.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { useNow } from '../parts/time.ts'
import { PlanStateMark } from '../plan/PlanStateMark.tsx'
import { Link } from '../shell/Link.tsx'
import { Page } from '../shell/Page.tsx'
import styles from './PlansPage.module.css'

const TITLE = 'Plans'

export default function PlansPage({ policy }: { readonly policy: Policy }) {
  if (policy.caller.network === 'internal') return <Plans />
  return (
    <Page title={TITLE}>
      <Notice tone="calm" title="The list of plans is for the internal network">
        <p>A plan whose id you know has its own page: /plans/ and then the id.</p>
      </Notice>
    </Page>
  )
}

function Plans() {
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = usePlans()
  const now = useNow(10_000)
  const plans = data?.pages.flatMap((page) => page.plans) ?? []
  return (
    <Page title={TITLE} lead="Every plan that was made, the newest first: what became of it, who asked, and when.">
      {isPending && <Skeleton lines={8} what="the plans" />}
      {error && !data && <Trouble fault={error} again={() => void refetch()} />}
      {data && plans.length === 0 && (
        <Notice tone="calm" title="No plan has been made yet">
          <p>
            <Link to="/plan">Expose a service</Link>
          </p>
        </Notice>
      )}
      {plans.length > 0 && (
        <div className={styles.frame}>
          <table className={styles.plans}>
            <thead>
              <tr>
                <th scope="col">Host</th>
                <th scope="col">State</th>
                <th scope="col">Server</th>
                <th scope="col">Asked by</th>
                <th scope="col">When</th>
              </tr>
            </thead>
            <tbody>
              {plans.map(({ planId, host, state, request, createdBy, network, createdAt }) => (
                <tr key={planId}>
                  <th scope="row">
                    <Link to={`/plans/${planId}`}>{host}</Link>
                  </th>
                  <td>
                    <PlanStateMark state={state} />
                  </td>
                  <td>
                    <span className={styles.word}>Server </span>
                    {request.server}:{request.port}
                  </td>
                  <td>
                    <code>{createdBy}</code>
                    {network === 'public' && ' (public)'}
                  </td>
                  <td>
                    <Ago at={createdAt} now={now} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {hasNextPage && (
        <p>
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show older plans
          </Button>
        </p>
      )}
    </Page>
  )
}
