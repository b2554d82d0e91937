import { useRef } from 'react'
import { ActivityLines } from '../activity/ActivityLines.tsx'
import { activityOf, auditAbout } from '../activity/activity.ts'
import { useAudit } from '../api/audit.ts'
import { useEvents } from '../api/events.ts'
import { type HostRow, useHosts } from '../api/hosts.ts'
import { isUnderWay, type Plan, usePlan } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { Button } from '../parts/Button.tsx'
import { Notice } from '../parts/Notice.tsx'
import { Panel } from '../parts/Panel.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { inFull } from '../parts/time.ts'
import { Timeline } from '../plans/Timeline.tsx'
import { useAsked } from '../shell/asked.ts'
import { Link } from '../shell/Link.tsx'
import { LinkButton } from '../shell/LinkButton.tsx'
import { Page } from '../shell/Page.tsx'
import { Adopting } from './Adopting.tsx'
import { HistoryPanel } from './HistoryPanel.tsx'
import { HostActs } from './HostActs.tsx'
import { HostFacts } from './HostFacts.tsx'
import styles from './HostPage.module.css'
import { Maintenance, useMaintenance } from './Maintenance.tsx'
import MuteDialog from './MuteDialog.tsx'
import { Standing } from './Standing.tsx'
import { TroubleNow } from './TroubleNow.tsx'

/** The acts that ask on this page. */
const ACTS = ['extend', 'maintenance', 'mute'] as const
type Act = (typeof ACTS)[number]

interface HostPageProps {
  readonly host: string
  readonly policy: Policy
}

/** Everything that is known of one host, over time, and what can be done with it. */
export default function HostPage({ host, policy }: HostPageProps) {
  const hosts = useHosts()
  const maintenance = useMaintenance()
  const row = useRow(hosts.data?.rows, host, maintenance.begun)
  const plan = useNewestPlan(row?.planId, host)
  const isInside = policy.caller.network === 'internal'
  const audit = auditAbout(useAudit(isInside).data ?? [], { host, planId: row?.planId })
  const lines = activityOf(audit, useEvents(isInside, host).data ?? [])
  const [asked, ask] = useAsked<Act>(ACTS)
  if (!row) {
    if (hosts.error && !hosts.data)
      return (
        <Page title={host}>
          <Trouble fault={hosts.error} again={() => void hosts.refetch()} />
        </Page>
      )
    return (
      <Page title={host}>
        {hosts.isPending || !hosts.data?.isWhole ? <Skeleton lines={8} what={host} /> : <NotExposed />}
      </Page>
    )
  }
  return (
    <Page
      title={host}
      acts={<HeaderActs row={row} policy={policy} plan={plan} onAsk={ask} />}
      lead={
        <div className={styles.lead}>
          <a href={row.url} target="_blank" rel="noreferrer">
            {row.url}
          </a>
          <Standing row={row} />
        </div>
      }
    >
      <TroubleNow row={row} policy={policy} />
      <HostActs
        row={row}
        policy={policy}
        isRepairOffered={false}
        isExtending={asked === 'extend'}
        setExtending={(isAsked) => ask(isAsked ? 'extend' : undefined)}
      />
      {plan && policy.caller.may.includes('apply') && (
        <Maintenance plan={plan} {...maintenance} isAsked={asked === 'maintenance'} onAnswered={() => ask(undefined)} />
      )}
      {row.muted && <Muted muted={row.muted} />}
      {asked === 'mute' && isInside && <MuteDialog row={row} onClose={() => ask(undefined)} />}
      {!row.managed && policy.caller.may.includes('adopt') && <Adopting host={host} />}
      <div className={styles.columns}>
        <div className={styles.main}>
          <HistoryPanel host={host} />
          {lines.length > 0 && (
            <Panel title="Activity">
              <ActivityLines lines={lines.slice(0, 40)} withHost={false} />
            </Panel>
          )}
        </div>
        <div className={styles.main}>
          <Panel title="Facts">
            <HostFacts row={row} plan={plan} />
          </Panel>
          {plan && isInside && (
            <Panel title="Runs">
              <Timeline plan={plan} />
            </Panel>
          )}
        </div>
      </div>
    </Page>
  )
}

interface HeaderActsProps {
  readonly row: HostRow
  readonly policy: Policy
  readonly plan: Plan | undefined
  readonly onAsk: (act: Act) => void
}

/** What can be done with a host, in one row. Each act asks first. */
function HeaderActs({ row: { host, planId, muted }, policy: { caller }, plan, onAsk }: HeaderActsProps) {
  const mayApply = caller.may.includes('apply')
  const isOn = plan?.request.options?.maintenance !== undefined
  return (
    <>
      <LinkButton to={`/hosts/${host}`} icon="pulse">
        Diagnose
      </LinkButton>
      {planId && mayApply && (
        <LinkButton to={`/plans/${planId}/change`} icon="pen">
          Change…
        </LinkButton>
      )}
      {planId && mayApply && (
        <Button disabled={plan?.state !== 'applied'} onClick={() => onAsk('maintenance')}>
          {isOn ? 'End maintenance…' : 'Begin maintenance…'}
        </Button>
      )}
      {caller.network === 'internal' && (
        <Button icon="bell" onClick={() => onAsk('mute')}>
          {muted ? 'End mute…' : 'Mute…'}
        </Button>
      )}
      {planId && caller.may.includes('remove') && (
        <LinkButton to={`/plans/${planId}?act=remove`} icon="cross">
          Remove…
        </LinkButton>
      )}
      {planId && caller.network === 'internal' && <LinkButton to={`/plans/${planId}`}>Open plan</LinkButton>}
    </>
  )
}

function Muted({ muted: { until, by, note } }: { readonly muted: NonNullable<HostRow['muted']> }) {
  return (
    <Notice tone="calm" title={until ? `Muted until ${inFull(until)}` : 'Muted until somebody ends it'} live>
      <p>
        By {by}
        {note && `: ${note}`}. The host is checked as before. Its trouble alerts nobody and does not count among the
        hosts that need attention.
      </p>
    </Notice>
  )
}

function NotExposed() {
  return (
    <Notice tone="calm" title="The host is not exposed">
      <p>
        <Link to="/">See all hosts</Link> or <Link to="/plan">expose a service</Link>.
      </p>
    </Notice>
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
