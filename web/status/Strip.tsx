import { memo } from 'react'
import styles from './Strip.module.css'

const SLOT = 5
const HEIGHT = 20

/** The classes of half-hours. A fault is red and taller; a half-hour without a check is a dot. */
const LOOKS = {
  unknown: { height: 4, of: (slot: string) => slot === '-' },
  good: { height: 12, of: (slot: string) => slot === '9' },
  shaky: { height: 16, of: (slot: string) => slot >= '5' && slot <= '8' },
  bad: { height: 20, of: (slot: string) => slot >= '0' && slot <= '4' },
} as const
type Look = keyof typeof LOOKS

/** The last 24 hours, oldest first. */
export const Strip = memo(function Strip({
  strip,
  uptime,
}: {
  readonly strip: string
  readonly uptime: number | null
}) {
  return (
    <span className={styles.strip}>
      <svg
        viewBox={`0 0 ${strip.length * SLOT - 2} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={uptime === null ? 'Not checked in 24 hours' : `Up ${percent(uptime)} of the last 24 hours`}
      >
        {(Object.keys(LOOKS) as Look[]).map((look) => (
          <path key={look} className={styles[look]} d={barsOf(strip, look)} />
        ))}
      </svg>
      <span className={styles.uptime} aria-hidden="true">
        {uptime === null ? '–' : percent(uptime)}
      </span>
    </span>
  )
})

/** All bars of one class as one path, because 48 elements per row would be slow. */
function barsOf(strip: string, look: Look): string {
  const { height, of } = LOOKS[look]
  const top = (HEIGHT - height) / 2
  return [...strip].map((slot, at) => (of(slot) ? `M${at * SLOT} ${top}h3v${height}h-3z` : '')).join('')
}

/** Rounded down, so that 100 means no failed check. */
export const percent = (share: number): string => `${share === 1 ? 100 : (Math.floor(share * 1000) / 10).toFixed(1)} %`
