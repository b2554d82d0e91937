import type { AuditLine } from '../api/audit.ts'
import { inFull } from '../parts/time.ts'
import { Link } from '../shell/Link.tsx'
import styles from './AuditLines.module.css'

interface AuditLinesProps {
  readonly lines: readonly AuditLine[]
  readonly withHost?: boolean
}

const OUTCOMES: Record<AuditLine['outcome'], string> = {
  ok: 'Done',
  refused: 'Refused',
  failed: 'Failed',
  rolled_back: 'Rolled back',
  blocked: 'Blocked',
}

/** Who did what, when and with which outcome. */
export function AuditLines({ lines, withHost = true }: AuditLinesProps) {
  return (
    <ol className={styles.lines} aria-label="Activity">
      {lines.map((line) => (
        <li key={line.seq} className={styles.line} data-outcome={line.outcome}>
          <span className={styles.outcome}>{OUTCOMES[line.outcome]}</span>
          <span className={styles.what}>
            <strong>{line.action}</strong>{' '}
            {withHost && line.host && <Link to={`/hosts/${line.host}/details`}>{line.host}</Link>}{' '}
            {line.planId && <Link to={`/plans/${line.planId}`}>plan</Link>} {line.code && <code>{line.code}</code>}
          </span>
          <span className={styles.who}>
            by {line.actor} · <time dateTime={line.at}>{inFull(line.at)}</time>
          </span>
        </li>
      ))}
    </ol>
  )
}
