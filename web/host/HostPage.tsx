import { useState } from 'react'
import { AuditLines } from '../activity/AuditLines.tsx'
import { useAudit } from '../api/audit.ts'
import { type Days, useHostHistory } from '../api/history.ts'
import { useHosts } from '../api/hosts.ts'
import { usePlan } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { Badge } from '../parts/Badge.tsx'
import { Button } from '../parts/Button.tsx'
import { Notice } from '../parts/Notice.tsx'
import { Panel } from '../parts/Panel.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { inFull, span, useNow } from '../parts/time.ts'
import { OwnerFacts } from '../plan/OwnerFacts.tsx'
import { Timeline } from '../plans/Timeline.tsx'
import { Link } from '../shell/Link.tsx'
import { go } from '../shell/location.ts'
import { Page } from '../shell/Page.tsx'
import { daysLeft } from '../status/attention.ts'
import { Chart } from './Chart.tsx'
import { HostActs } from './HostActs.tsx'
import styles from './HostPage.module.css'

const RANGES: readonly (readonly [Days, string])[] = [
  ['1', '24 hours'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
]

/** Everything that is known of one host, over time. */
export function HostPage({ host, policy }: { readonly host: string; readonly policy: Policy }) {
  const hosts = useHosts()
  const row = hosts.data?.rows.find((one) => one.host === host)
  const { data: plan } = usePlan(row?.planId)
  const isInside = policy.caller.network === 'internal'
  const lines = useAudit(isInside).data?.filter((line) => line.host === host || line.planId === row?.planId)
  const now = useNow(10_000)
  if (!row) {
    return (
      <Page title={host}>
        {hosts.isPending || !hosts.data?.isWhole ? (
          <Skeleton lines={8} what={host} />
        ) : (
          <Notice tone="calm" title="The host is not exposed">
            <p>
              <Link to="/">See all hosts</Link> or <Link to="/plan">plan an exposure</Link>.
            </p>
          </Notice>
        )}
      </Page>
    )
  }
  return (
    <Page
      title={host}
      lead={
        <>
          <Badge badge={row.badge} /> {row.since && `for ${span(now - Date.parse(row.since))} · `}
          {row.server ? `server ${row.server} · ` : ''}
          <a href={row.url} target="_blank" rel="noreferrer">
            {row.url}
          </a>{' '}
          · <Link to={`/hosts/${host}`}>Diagnosis</Link>
        </>
      }
    >
      <HostActs row={row} policy={policy} isRepairOffered={false} />
      <div className={styles.columns}>
        <div className={styles.main}>
          <HistoryPanel host={host} />
          {lines && lines.length > 0 && (
            <Panel title="Activity">
              <AuditLines lines={lines.slice(0, 20)} withHost={false} />
            </Panel>
          )}
        </div>
        <div className={styles.main}>
          <Panel title="Facts">
            <dl className={styles.facts}>
              <Fact name="Managed">{row.managed ? 'Yes' : 'No: it is in nginx, but Drawbridge did not create it'}</Fact>
              <Fact name="Last check">{row.checkedAt ? inFull(row.checkedAt) : 'Not yet'}</Fact>
              <Fact name="Certificate">
                {row.certificate
                  ? `${daysLeft(row.certificate.notAfter, now)}, until ${inFull(row.certificate.notAfter)}`
                  : row.tls
                    ? 'Not seen yet'
                    : 'None: plain HTTP'}
              </Fact>
              <Fact name="Expires">{row.expiresAt ? inFull(row.expiresAt) : 'Never'}</Fact>
              {plan && <OwnerFacts request={plan.request} />}
              {plan?.changes.map((change) =>
                change.kind === 'dns' ? (
                  <Fact key={`${change.name}${change.type}`} name={`Record ${change.type}`}>
                    {change.name} {change.value}
                  </Fact>
                ) : change.kind === 'proxy' ? (
                  <Fact key="proxy" name="Entry">
                    {change.serverName} → {change.target}
                  </Fact>
                ) : null,
              )}
            </dl>
            {row.planId && (
              <div className={styles.actions}>
                <Button onClick={() => go(`/plans/${row.planId}`)}>Open plan</Button>
                {policy.caller.may.includes('apply') && (
                  <Button onClick={() => go(`/plans/${row.planId}/change`)}>Change…</Button>
                )}
              </div>
            )}
          </Panel>
          {plan && (
            <Panel title="Runs">
              <Timeline plan={plan} />
            </Panel>
          )}
        </div>
      </div>
    </Page>
  )
}

function HistoryPanel({ host }: { readonly host: string }) {
  const [days, setDays] = useState<Days>('1')
  const { data, error, isPending, refetch } = useHostHistory(host, days)
  return (
    <Panel title="Uptime and latency">
      <fieldset className={styles.ranges}>
        <legend className="off-screen">Time</legend>
        {RANGES.map(([value, words]) => (
          <button
            key={value}
            type="button"
            className={styles.range}
            aria-pressed={value === days}
            onClick={() => setDays(value)}
          >
            {words}
          </button>
        ))}
      </fieldset>
      {isPending && <Skeleton lines={4} what="the history" />}
      {error && !data && <Trouble fault={error} again={() => void refetch()} />}
      {data && (
        <>
          <Chart history={data} what="uptime" />
          <Chart history={data} what="latency" />
        </>
      )}
    </Panel>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
