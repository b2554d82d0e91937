import type { HostHistory } from '../api/history.ts'
import { inFull, took } from '../parts/time.ts'
import { percent } from '../status/Strip.tsx'
import styles from './Chart.module.css'

const [WIDTH, HEIGHT] = [640, 96]

interface ChartProps {
  readonly history: HostHistory
  readonly what: 'uptime' | 'latency'
}

const STEP_MS = { hour: 3_600_000, day: 86_400_000 }

/** Bars over time. The description says what a person would read from the picture. */
export function Chart({ history, what }: ChartProps) {
  const { days, unit, from, slots } = history
  const step = STEP_MS[unit]
  const count = (days * 86_400_000) / step
  const width = WIDTH / count
  const most = Math.max(10, ...slots.map(({ latencyMs }) => latencyMs ?? 0))
  const bars = slots.flatMap(({ at, uptime, latencyMs }) => {
    const value = what === 'uptime' ? uptime : latencyMs
    if (value === null) return []
    const share = what === 'uptime' ? value : value / most
    // A down bar must be seen, too.
    const height = Math.max(3, share * HEIGHT)
    const look = what === 'latency' ? 'latency' : value === 1 ? 'good' : value >= 0.5 ? 'shaky' : 'bad'
    const words = `${inFull(at)}: ${what === 'uptime' ? percent(value) : took(value)}`
    return { at, look, words, height, x: ((Date.parse(at) - Date.parse(from)) / step) * width }
  })
  return (
    <figure className={styles.chart}>
      <figcaption>{describe(history, what)}</figcaption>
      {slots.length > 0 && (
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {bars.map(({ at, look, words, height, x }) => (
            <rect
              key={at}
              className={styles[look]}
              x={x}
              y={HEIGHT - height}
              width={Math.max(1, width - Math.min(2, width / 4))}
              height={height}
            >
              <title>{words}</title>
            </rect>
          ))}
        </svg>
      )}
      {slots.length > 0 && (
        <p className={styles.scale} aria-hidden="true">
          <span>{inFull(from)}</span>
          <span>{what === 'latency' && `highest ${took(most)}`}</span>
          <span>now</span>
        </p>
      )}
    </figure>
  )
}

/** The picture in one sentence. */
function describe({ days, slots, uptime, unit }: HostHistory, what: ChartProps['what']): string {
  const span = days === 1 ? '24 hours' : `${days} days`
  if (slots.length === 0) return `No checks in the last ${span}.`
  const covered = `${slots.length} ${unit}${slots.length === 1 ? '' : 's'} with checks`
  if (what === 'latency') {
    const known = slots.flatMap(({ latencyMs }) => latencyMs ?? [])
    if (known.length === 0) return `Latency, ${span}: no answer was measured.`
    const average = known.reduce((sum, ms) => sum + ms, 0) / known.length
    return `Latency, ${span}: ${took(average)} on average, ${took(Math.min(...known))} to ${took(Math.max(...known))}, from ${covered}.`
  }
  const worst = slots.reduce((low, slot) => ((slot.uptime ?? 1) < (low.uptime ?? 1) ? slot : low))
  const low =
    worst.uptime === 1 || worst.uptime === null ? '' : ` Lowest: ${percent(worst.uptime)} at ${inFull(worst.at)}.`
  return `Uptime, ${span}: ${uptime === null ? 'not known' : percent(uptime)}, from ${covered}.${low}`
}
