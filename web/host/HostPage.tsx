import { useRef, useState } from 'react'
import { ActivityLines } from '../activity/ActivityLines.tsx'
import { activityOf, auditAbout } from '../activity/activity.ts'
import { useAudit } from '../api/audit.ts'
import { useEvents } from '../api/events.ts'
import { type Days, useHostHistory } from '../api/history.ts'
import { type HostRow, useHosts } from '../api/hosts.ts'
import { isUnderWay, type Plan, usePlan } from '../api/plans.ts'
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
import { daysLeft, issuedBy } from '../status/attention.ts'
import { Adopting } from './Adopting.tsx'
import { Chart } from './Chart.tsx'
import { HostActs } from './HostActs.tsx'
import styles from './HostPage.module.css'
import { Incidents } from './Incidents.tsx'
import { Maintenance, useMaintenance } from './Maintenance.tsx'
import { Mute } from './Mute.tsx'

const RANGES: readonly (readonly [Days, string])[] = [
  ['1', '24 hours'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
]

/** Everything that is known of one host, over time. */
export function HostPage({ host, policy }: { readonly host: string; readonly policy: Policy }) {
  const hosts = useHosts()
  const maintenance = useMaintenance()
  const row = useRow(hosts.data?.rows, host, maintenance.begun)
  const plan = useNewestPlan(row?.planId, host)
  const isInside = policy.caller.network === 'internal'
  const audit = auditAbout(useAudit(isInside).data ?? [], { host, planId: row?.planId })
  const lines = activityOf(audit, useEvents(isInside, host).data ?? [])
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
      {!row.managed && policy.caller.may.includes('adopt') && <Adopting host={host} />}
      <div className={styles.columns}>
        <div className={styles.main}>
          <HistoryPanel host={host} />
          {lines.length > 0 && (
            <Panel title="Activity">
              <ActivityLines lines={lines.slice(0, 20)} withHost={false} />
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
                  ? `${daysLeft(row.certificate.notAfter, now)}, until ${inFull(row.certificate.notAfter)}${issuedBy(row.certificate)}`
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
          {plan && policy.caller.may.includes('apply') && (
            <Panel title="Maintenance">
              <Maintenance plan={plan} {...maintenance} />
            </Panel>
          )}
          {isInside && (
            <Panel title="Alerts">
              <Mute row={row} />
            </Panel>
          )}
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

/** The row of the host. A change takes it off the list for a moment; the page keeps it as long as the changed plan lives. */
function useRow(rows: readonly HostRow[] | undefined, host: string, begun: Plan | undefined): HostRow | undefined {
  const found = rows?.find((row) => row.host === host)
  const last = useRef<HostRow>(undefined)
  if (found) last.current = found
  const isKept = begun?.host === host && (isUnderWay(begun) || begun.state === 'applied')
  return found ?? (isKept && last.current?.host === host ? last.current : undefined)
}

/** The plan of the host. While the plan that took its place is being loaded, the former one, so that nothing on the page is lost. */
function useNewestPlan(planId: string | undefined, host: string): Plan | undefined {
  const { data } = usePlan(planId)
  const last = useRef<Plan>(undefined)
  if (data) last.current = data
  return planId !== undefined && last.current?.host === host ? last.current : undefined
}

function HistoryPanel({ host }: { readonly host: string }) {
  const [days, setDays] = useState<Days>('1')
  const { data, error, isPending, refetch } = useHostHistory(host, days)
  return (
    <Panel title="Uptime, latency and incidents">
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
          <Incidents incidents={data.incidents} days={data.days} />
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
