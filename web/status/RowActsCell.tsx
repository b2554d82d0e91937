import type { HostRow } from '../api/hosts.ts'
import { Icon } from '../parts/icons.tsx'
import { Link } from '../shell/Link.tsx'
import styles from './RowActsCell.module.css'

/** What a row can do. Undefined: this caller may not. */
export interface RowActs {
  readonly select: (row: HostRow) => void
  readonly mute: ((row: HostRow) => void) | undefined
  readonly mayChange: boolean
}

interface RowActsCellProps {
  readonly row: HostRow
  readonly isActive: boolean
  readonly acts: RowActs
  readonly query: string
}

/** The acts of a row. They are seen when the pointer or the focus is in the row. */
export function RowActsCell({ row, isActive, acts, query }: RowActsCellProps) {
  const { host, planId, muted, url } = row
  const tabIndex = isActive ? 0 : -1
  const { mute } = acts
  return (
    // biome-ignore lint/a11y/useSemanticElements: the rows of a real table cannot be placed one by one
    <span role="cell" className={styles.acts}>
      <Link to={`/hosts/${host}${query}`} className={styles.act} tabIndex={tabIndex} aria-label={`Diagnose ${host}`}>
        <Icon name="pulse" />
        Diagnose
      </Link>
      {acts.mayChange && planId && (
        <Link to={`/plans/${planId}/change`} className={styles.act} tabIndex={tabIndex} aria-label={`Change ${host}`}>
          <Icon name="pen" />
          Change
        </Link>
      )}
      {mute && (
        <button
          type="button"
          className={styles.act}
          tabIndex={tabIndex}
          aria-label={`${muted ? 'End mute of' : 'Mute'} ${host}`}
          onClick={() => mute(row)}
        >
          <Icon name="bell" />
          {muted ? 'End mute' : 'Mute'}
        </button>
      )}
      <a
        href={url}
        className={styles.act}
        target="_blank"
        rel="noreferrer"
        tabIndex={tabIndex}
        aria-label={`Open ${host}`}
        title={url}
      >
        <Icon name="out" />
        Open
      </a>
    </span>
  )
}

/** The keys of a row that has the focus, by the label of the control that they press. */
export const ROW_KEYS: Readonly<Record<string, string>> = {
  x: 'Select ',
  c: 'Change ',
  m: 'Mute ',
  o: 'Open ',
}
