import { memo } from 'react'
import type { HostRow } from '../api/hosts.ts'
import { Badge } from '../parts/Badge.tsx'
import { Icon } from '../parts/icons.tsx'
import { inFull, span } from '../parts/time.ts'
import { Link } from '../shell/Link.tsx'
import { go } from '../shell/location.ts'
import { attentionOf, daysLeft, isForOthers } from './attention.ts'
import styles from './HostTable.module.css'
import { Sparkline } from './Sparkline.tsx'
import { Strip } from './Strip.tsx'

interface HostLineProps {
  readonly row: HostRow
  readonly at: number
  readonly top: number
  readonly now: number
  readonly isOpen: boolean
  readonly isActive: boolean
  readonly query: string
}

export const HostLine = memo(function HostLine({ row, at, top, now, isOpen, isActive, query }: HostLineProps) {
  const {
    host,
    badge,
    server,
    tls,
    since,
    strip,
    uptime24h,
    latencies,
    latencyMs,
    managed,
    certificate,
    expiresAt,
    url,
  } = row
  const notes = attentionOf(row, now).filter(({ kind }) => kind === 'blocked' || kind === 'secondary')
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
      style={{ transform: `translateY(${top}px)` }}
      onClick={(event) => {
        // The text of a row can be selected, and its links lead elsewhere.
        if ((event.target as Element).closest('a') || !getSelection()?.isCollapsed) return
        go(`/hosts/${host}${query}`)
      }}
    >
      {/* biome-ignore-start lint/a11y/useSemanticElements: as above */}
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
      </span>
      <span role="cell" className={styles.host} title={host}>
        <span className={styles.name}>{host}</span>
        {notes.map(({ kind, words, tone }) => (
          <span key={kind} className={styles.note} data-tone={tone}>
            {words}
          </span>
        ))}
        {row.maintenance && <span className={styles.own}>Maintenance</span>}
        {row.muted && <span className={styles.own}>Muted</span>}
        {!managed && <span className={styles.own}>Unmanaged</span>}
        <a
          href={url}
          className={styles.out}
          target="_blank"
          rel="noreferrer"
          tabIndex={isActive ? 0 : -1}
          aria-label={`Open ${host}`}
          title={url}
        >
          <Icon name="out" />
        </a>
      </span>
      <span role="cell" className={styles.server}>
        <span className={styles.word}>Server </span>
        {server ?? '–'}
      </span>
      <span role="cell" className={styles.tls} data-level={isForOthers(row) ? 'critical' : certificate?.level}>
        <span className={styles.word}>Certificate </span>
        {certificate ? (
          <time dateTime={certificate.notAfter} title={inFull(certificate.notAfter)}>
            {isForOthers(row) ? 'wrong' : daysLeft(certificate.notAfter, now)}
            {isForOthers(row) && <span className="off-screen"> name</span>}
          </time>
        ) : (
          <span className={styles.plain}>{tls ? '–' : 'http'}</span>
        )}
      </span>
      <span role="cell" className={styles.expires}>
        <span className={styles.word}>Removed in </span>
        {expiresAt ? (
          <time dateTime={expiresAt} title={inFull(expiresAt)}>
            {span(Date.parse(expiresAt) - now)}
          </time>
        ) : (
          <span className={styles.plain}>never</span>
        )}
      </span>
      <span role="cell" className={styles.since}>
        <span className={styles.word}>for </span>
        {since ? (
          <time dateTime={since} title={inFull(since)}>
            {span(now - Date.parse(since))}
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
      {/* biome-ignore-end lint/a11y/useSemanticElements: as above */}
    </div>
  )
})
