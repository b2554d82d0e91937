import { useHostHistory } from '../api/history.ts'
import type { HostRow } from '../api/hosts.ts'
import { type Action, type Plan, usePlan } from '../api/plans.ts'
import { usePolicy } from '../api/policy.ts'
import { atTime, inFull, span, useNow } from '../parts/time.ts'
import { isDown } from '../status/attention.ts'
import styles from './Standing.module.css'

/** Since when a host is as it is, when it was last well, and what was changed last. */
export function Standing({ row }: { readonly row: HostRow }) {
  const now = useNow()
  const isInside = usePolicy().data?.caller.network === 'internal'
  const { data: plan } = usePlan(isInside ? row.planId : undefined)
  const isBad = isDown(row)
  const { data: history } = useHostHistory(isBad ? row.host : undefined, '1')
  const lastGoodAt = history?.lastGoodAt
  const change = plan && lastChange(plan)
  return (
    <p className={styles.standing}>
      <span data-bad={isBad}>
        <strong>{row.badge}</strong>
        {row.since && (
          <>
            {' '}
            for {span(now - Date.parse(row.since))}, since <Time at={row.since} now={now} />
          </>
        )}
      </span>
      {isBad && history && (
        <span>
          {lastGoodAt ? (
            <>
              last good <Time at={lastGoodAt} now={now} />
            </>
          ) : (
            'never seen well'
          )}
        </span>
      )}
      {change && (
        <span>
          last change: {change.words}
          {change.by && ` by ${change.by}`},{' '}
          <time dateTime={change.at} title={inFull(change.at)}>
            {span(now - Date.parse(change.at))} ago
          </time>
        </span>
      )}
    </p>
  )
}

function Time({ at, now }: { readonly at: string; readonly now: number }) {
  return (
    <time dateTime={at} title={inFull(at)}>
      {atTime(at, now)}
    </time>
  )
}

const DONE: Record<Action, string> = {
  apply: 'applied',
  update: 'changed',
  remove: 'removed',
  repair: 'repaired',
  accept: 'accepted',
  renew: 'certificate renewed',
  converge: 'an edge updated',
}

/** The newest run that has ended. */
function lastChange({ runs = [], request }: Plan) {
  const run = runs.findLast(({ finishedAt }) => finishedAt !== null)
  if (!run || run.finishedAt === null) return undefined
  const done = DONE[run.action === 'apply' && request.replaces !== undefined ? 'update' : run.action]
  return { words: run.state === 'succeeded' ? done : `${run.action} failed`, by: run.actor, at: run.finishedAt }
}
