import type { Action, Plan, Run } from '../api/plans.ts'
import type { Tone } from '../parts/Notice.tsx'
import { inFull, took } from '../parts/time.ts'
import styles from './Timeline.module.css'

interface Moment {
  readonly at: string
  readonly title: string
  readonly tone: Tone
  readonly detail?: string | undefined
}

/** The history of a plan, in order. */
export function Timeline({ plan }: { readonly plan: Plan }) {
  return (
    <ol className={styles.timeline}>
      {momentsOf(plan).map(({ at, title, tone, detail }) => (
        <li key={`${at} ${title}`} className={styles.moment} data-tone={tone}>
          <p className={styles.title}>{title}</p>
          {detail && <p className={styles.detail}>{detail}</p>}
          <time dateTime={at}>{inFull(at)}</time>
        </li>
      ))}
    </ol>
  )
}

function momentsOf(plan: Plan): readonly Moment[] {
  const made: Moment = {
    at: plan.createdAt,
    title: 'Planned',
    tone: 'calm',
    detail: plan.createdBy && `asked by ${plan.createdBy}${plan.network === 'public' ? ', from outside' : ''}`,
  }
  const runs = (plan.runs ?? []).flatMap(momentsOfRun)
  const isOver = plan.state === 'expired'
  const isMortal = plan.state === 'planned' || plan.state === 'rolled_back' || isOver
  const end: Moment = { at: plan.expiresAt, title: isOver ? 'Plan no longer valid' : 'Plan valid until', tone: 'calm' }
  return [made, ...runs, ...(isMortal ? [end] : [])]
}

const ENDED: Record<Action, Record<Run['state'], readonly [string, Tone]>> = {
  apply: {
    running: ['Applying', 'calm'],
    succeeded: ['Applied', 'good'],
    rolled_back: ['Apply failed, rolled back', 'warning'],
    blocked: ['Apply failed, blocked', 'bad'],
  },
  update: {
    running: ['Changing', 'calm'],
    succeeded: ['Changed', 'good'],
    rolled_back: ['Change failed, rolled back', 'warning'],
    blocked: ['Change failed, blocked', 'bad'],
  },
  remove: {
    running: ['Removing', 'calm'],
    succeeded: ['Removed', 'good'],
    rolled_back: ['Removal failed, rolled back', 'warning'],
    blocked: ['Removal failed, blocked', 'bad'],
  },
  repair: {
    running: ['Repairing', 'calm'],
    succeeded: ['Repaired', 'good'],
    rolled_back: ['Repair failed, rolled back', 'warning'],
    blocked: ['Repair failed, blocked', 'bad'],
  },
  accept: {
    running: ['Accepting', 'calm'],
    succeeded: ['Accepted as it stands', 'good'],
    rolled_back: ['Accept failed, rolled back', 'warning'],
    blocked: ['Accept failed, blocked', 'bad'],
  },
  renew: {
    running: ['Renewing', 'calm'],
    succeeded: ['Certificate renewed', 'good'],
    rolled_back: ['Renewal failed, rolled back', 'warning'],
    blocked: ['Renewal failed, blocked', 'bad'],
  },
  converge: {
    running: ['Updating an edge', 'calm'],
    succeeded: ['The same on all edges', 'good'],
    rolled_back: ['Update of an edge failed', 'warning'],
    blocked: ['Update of an edge failed, blocked', 'bad'],
  },
}

const BEGUN: Record<Action, string> = {
  apply: 'Apply begun',
  update: 'Change begun',
  remove: 'Removal begun',
  repair: 'Repair begun',
  accept: 'Accept begun',
  renew: 'Renewal begun',
  converge: 'Update of an edge begun',
}

function momentsOfRun({ action, state, startedAt, finishedAt, actor, events }: Run): readonly Moment[] {
  const begun: Moment = {
    at: startedAt,
    title: BEGUN[action],
    tone: 'calm',
    detail: actor && `by ${actor}`,
  }
  if (finishedAt === null) return [begun]
  const [title, tone] = ENDED[action][state]
  const failed = events.find(({ name }) => name === 'failed')
  const time = `took ${took(Date.parse(finishedAt) - Date.parse(startedAt))}`
  return [begun, { at: finishedAt, title, tone, detail: failed?.detail ? `${failed.detail} It ${time}.` : time }]
}
