import { memo } from 'react'
import type { HostRow } from '../api/hosts.ts'
import { Badge } from '../parts/Badge.tsx'
import { Icon } from '../parts/icons.tsx'
import { inFull, span } from '../parts/time.ts'
import { Link } from '../shell/Link.tsx'
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
  const { host, badge, server, tls, since, strip, uptime24h, latencies, latencyMs, managed, secondary } = row
  return (
    // biome-ignore lint/a11y/useSemanticElements: the rows of a real table cannot be placed one by one
    // biome-ignore lint/a11y/useFocusableInteractive: the link in it takes the focus
    <div
      role="row"
      aria-rowindex={at + 2}
      className={styles.row}
      data-at={at}
      data-open={isOpen}
      style={{ transform: `translateY(${top}px)` }}
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
        {host}
        {!managed && <span className={styles.own}>not made here</span>}
        {secondary === 'missing' && <span className={styles.own}>missing on the Secondary</span>}
        {secondary === 'differs' && <span className={styles.own}>differs on the Secondary</span>}
      </span>
      <span role="cell" className={styles.server}>
        <span className={styles.word}>Server </span>
        {server ?? '–'}
      </span>
      <span role="cell" className={styles.tls}>
        {tls ? (
          <>
            <Icon name="lock" />
            <span className="off-screen">TLS</span>
          </>
        ) : (
          <span className={styles.plain}>http</span>
        )}
      </span>
      <span role="cell" className={styles.since}>
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
