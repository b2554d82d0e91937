import { useAudit } from '../api/audit.ts'
import { useEvents } from '../api/events.ts'
import type { Policy } from '../api/policy.ts'
import control from '../parts/control.module.css'
import { Field } from '../parts/Field.tsx'
import { Notice } from '../parts/Notice.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { TermInput } from '../parts/TermInput.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { useAddressState } from '../shell/address-state.ts'
import { Page } from '../shell/Page.tsx'
import { ActivityLines } from './ActivityLines.tsx'
import styles from './ActivityPage.module.css'
import { activityAddress, activityOf, KINDS, matchingActivity, OUTCOMES } from './activity.ts'

const TITLE = 'Activity'

/** Who did what and what happened: the newest lines of the audit and the newest events, live. */
export default function ActivityPage({ policy }: { readonly policy: Policy }) {
  const isInside = policy.caller.network === 'internal'
  const { data, error, isPending, refetch } = useAudit(isInside)
  const events = useEvents(isInside)
  const [filter, setFilter] = useAddressState(activityAddress)
  if (!isInside) {
    return (
      <Page title={TITLE}>
        <Notice tone="calm" title="The activity is for the internal network" />
      </Page>
    )
  }
  const shown = matchingActivity(activityOf(data ?? [], events.data ?? []), filter)
  return (
    <Page title={TITLE} lead="Who did what and what happened, newest first. New lines appear by themselves.">
      <div className={styles.filters}>
        <Field label="Search" hint="Action, event, host, address, plan or code">
          {(props) => (
            <TermInput
              {...props}
              value={filter.search}
              onChange={(event) => setFilter({ search: event.target.value })}
            />
          )}
        </Field>
        <Field label="Show">
          {(props) => (
            <select
              {...props}
              className={control.control}
              value={filter.kind}
              onChange={(event) => setFilter({ kind: event.target.value })}
            >
              <option value="">All</option>
              {Object.entries(KINDS).map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Outcome">
          {(props) => (
            <select
              {...props}
              className={control.control}
              value={filter.outcome}
              onChange={(event) => setFilter({ outcome: event.target.value })}
            >
              <option value="">All</option>
              {Object.entries(OUTCOMES).map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      {isPending && <Skeleton lines={8} what="the activity" />}
      {error && !data && <Trouble fault={error} again={() => void refetch()} />}
      {events.error && !events.data && <Trouble fault={events.error} again={() => void events.refetch()} />}
      {data && shown.length === 0 && <Notice tone="calm" title="No activity matches" />}
      {shown.length > 0 && <ActivityLines lines={shown} />}
    </Page>
  )
}
