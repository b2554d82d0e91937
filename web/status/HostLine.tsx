import { memo } from 'react'
import type { HostRow } from '../api/hosts.ts'
import { Badge } from '../parts/Badge.tsx'
import { inFull, span, timeLeft } from '../parts/time.ts'
import { Link } from '../shell/Link.tsx'
import { go } from '../shell/location.ts'
import { daysLeft, isForOthers, notesOf } from './attention.ts'
import styles from './HostTable.module.css'
import { type RowActs, RowActsCell } from './RowActsCell.tsx'
import { Sparkline } from './Sparkline.tsx'
import { Strip } from './Strip.tsx'

interface HostLineProps {
  readonly row: HostRow
  readonly at: number
  readonly top: number
  readonly now: number
  readonly isOpen: boolean
  readonly isActive: boolean
  /** On a telephone the notes stand beside the badge, so that the name has its line for itself. */
  readonly isPhone: boolean
  /** Undefined: this caller can select nothing. */
  readonly isSelected: boolean | undefined
  readonly query: string
  readonly acts: RowActs
}

export const HostLine = memo(function HostLine(props: HostLineProps) {
  const { row, at, top, now, isOpen, isActive, isPhone, isSelected, query, acts } = props
  const { host, badge, server, since, strip, uptime24h, latencies, latencyMs, planId } = row
  const notes = notesOf(row).map(({ words, tone }) => (
    <span key={words} className={styles.note} data-tone={tone}>
      {words}
    </span>
  ))
  return (
    // biome-ignore lint/a11y/useSemanticElements: the rows of a real table cannot be placed one by one
    // biome-ignore lint/a11y/useFocusableInteractive: the link in it takes the focus
    // biome-ignore lint/a11y/useKeyWithClickEvents: the link in it does the same by keyboard
    <div
      role="row"
      aria-rowindex={at + 2}
      className={styles.row}
      data-at={at}
      data-open={isOpen}
      data-selected={isSelected}
      style={{ transform: `translateY(${top}px)` }}
      onClick={(event) => {
        // The text of a row can be selected, and its controls do something else.
        if ((event.target as Element).closest('a, button, input, label') || !getSelection()?.isCollapsed) return
        go(`/hosts/${host}${query}`)
      }}
    >
      {/* biome-ignore-start lint/a11y/useSemanticElements: as above */}
      {isSelected !== undefined && (
        <span role="cell" className={styles.check}>
          {planId && (
            <label>
              <input
                type="checkbox"
                aria-label={`Select ${host}`}
                checked={isSelected}
                tabIndex={isActive ? 0 : -1}
                onChange={() => acts.select(row)}
              />
            </label>
          )}
        </span>
      )}
      <span role="cell" className={styles.badge}>
        <Link
          to={`/hosts/${host}${query}`}
          className={styles.ask}
          tabIndex={isActive ? 0 : -1}
          aria-label={`${badge}, diagnose ${host}`}
          aria-current={isOpen || undefined}
        >
          <Badge badge={badge} />
        </Link>
        {isPhone && notes}
      </span>
      <span role="cell" className={styles.host} title={host}>
        <span className={styles.name}>{host}</span>
        {!isPhone && notes}
      </span>
      <span role="cell" className={styles.server}>
        <span className={styles.word}>Server </span>
        {server ?? '–'}
      </span>
      <CertificateCell row={row} now={now} isPhone={isPhone} />
      <EndCell row={row} now={now} />
      <span role="cell" className={styles.since}>
        {since ? (
          <time dateTime={since} title={inFull(since)}>
            {span(now - Date.parse(since))} ago
          </time>
        ) : (
          '–'
        )}
      </span>
      <span role="cell" className={styles.strip}>
        <Strip strip={strip} uptime={uptime24h} />
      </span>
      <span role="cell" className={styles.latency}>
        <Sparkline latencies={latencies} latest={latencyMs} />
      </span>
      <RowActsCell row={row} isActive={isActive} acts={acts} query={query} />
      {/* biome-ignore-end lint/a11y/useSemanticElements: as above */}
    </div>
  )
})

interface CellProps {
  readonly row: HostRow
  readonly now: number
}

function CertificateCell({ row, now, isPhone }: CellProps & { readonly isPhone: boolean }) {
  const { certificate, tls } = row
  const isWrong = isForOthers(row)
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    <span role="cell" className={styles.tls} data-level={isWrong ? 'critical' : certificate?.level}>
      <span className={styles.word}>{isPhone ? 'Cert. ' : 'Certificate '}</span>
      {certificate ? (
        <time dateTime={certificate.notAfter} title={`Valid until ${inFull(certificate.notAfter)}`}>
          {isWrong ? 'wrong' : daysLeft(certificate.notAfter, now)}
          {isWrong && <span className="off-screen"> name</span>}
        </time>
      ) : (
        <span className={styles.plain}>{tls ? '–' : 'none (HTTP)'}</span>
      )}
    </span>
  )
}

function EndCell({ row: { expiresAt }, now }: CellProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    <span role="cell" className={styles.expires} data-soon={expiresAt !== null}>
      <span className={styles.word}>Removes itself </span>
      {expiresAt ? (
        <time dateTime={expiresAt} title={inFull(expiresAt)}>
          in {timeLeft(Date.parse(expiresAt) - now)}
        </time>
      ) : (
        <span className={styles.plain}>never</span>
      )}
    </span>
  )
}
