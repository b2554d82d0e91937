import type { AuditLine } from '../api/audit.ts'
import { inFull } from '../parts/time.ts'
import { Link } from '../shell/Link.tsx'
import styles from './ActivityLines.module.css'
import type { ActivityLine } from './activity.ts'

interface ActivityLinesProps {
  readonly lines: readonly ActivityLine[]
  readonly withHost?: boolean
}

const OUTCOMES: Record<AuditLine['outcome'], string> = {
  ok: 'Done',
  refused: 'Refused',
  failed: 'Failed',
  rolled_back: 'Rolled back',
  blocked: 'Blocked',
}

/** Who did what, and what happened, when and with which outcome. */
export function ActivityLines({ lines, withHost = true }: ActivityLinesProps) {
  return (
    <ol className={styles.lines} aria-label="Activity">
      {lines.map(({ key, kind, outcome, title, host, planId, detail, actor, at }) => (
        <li key={key} className={styles.line} data-outcome={outcome} data-kind={kind}>
          <span className={styles.outcome}>{outcome ? OUTCOMES[outcome] : 'Event'}</span>
          <span className={styles.what}>
            <strong>{title}</strong> {withHost && host && <Link to={`/hosts/${host}/details`}>{host}</Link>}{' '}
            {planId && <Link to={`/plans/${planId}`}>plan</Link>} {detail && <code>{detail}</code>}
          </span>
          <span className={styles.who}>
            {actor && `by ${actor} · `}
            <time dateTime={at}>{inFull(at)}</time>
          </span>
        </li>
      ))}
    </ol>
  )
}
