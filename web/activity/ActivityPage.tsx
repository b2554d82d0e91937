import { useState } from 'react'
import { useAudit } from '../api/audit.ts'
import { useEvents } from '../api/events.ts'
import type { Policy } from '../api/policy.ts'
import control from '../parts/control.module.css'
import { Field } from '../parts/Field.tsx'
import { Notice } from '../parts/Notice.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { TermInput } from '../parts/TermInput.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { Page } from '../shell/Page.tsx'
import { ActivityLines } from './ActivityLines.tsx'
import styles from './ActivityPage.module.css'
import { activityOf, matchingActivity } from './activity.ts'

const TITLE = 'Activity'

/** Who did what and what happened: the newest lines of the audit and the newest events, live. */
export function ActivityPage({ policy }: { readonly policy: Policy }) {
  const isInside = policy.caller.network === 'internal'
  const { data, error, isPending, refetch } = useAudit(isInside)
  const events = useEvents(isInside)
  const [kind, setKind] = useState('')
  const [search, setSearch] = useState('')
  const [outcome, setOutcome] = useState('')
  if (!isInside) {
    return (
      <Page title={TITLE}>
        <Notice tone="calm" title="The activity is for the internal network" />
      </Page>
    )
  }
  const shown = matchingActivity(activityOf(data ?? [], events.data ?? []), { kind, outcome, search })
  return (
    <Page title={TITLE} lead="Who did what and what happened, newest first. New lines appear by themselves.">
      <div className={styles.filters}>
        <Field label="Search" hint="Action, event, host, address, plan or code">
          {(props) => <TermInput {...props} value={search} onChange={(event) => setSearch(event.target.value)} />}
        </Field>
        <Field label="Show">
          {(props) => (
            <select
              {...props}
              className={control.control}
              value={kind}
              onChange={(event) => setKind(event.target.value)}
            >
              <option value="">All</option>
              <option value="action">Actions of people</option>
              <option value="event">Events of hosts</option>
            </select>
          )}
        </Field>
        <Field label="Outcome">
          {(props) => (
            <select
              {...props}
              className={control.control}
              value={outcome}
              onChange={(event) => setOutcome(event.target.value)}
            >
              <option value="">All</option>
              <option value="ok">Done</option>
              <option value="refused">Refused</option>
              <option value="failed">Failed</option>
              <option value="rolled_back">Rolled back</option>
              <option value="blocked">Blocked</option>
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
