import { memo } from 'react'
import { took } from '../parts/time.ts'
import styles from './Sparkline.module.css'

const [WIDTH, HEIGHT, EDGE] = [72, 20, 2]

interface SparklineProps {
  readonly latencies: readonly number[]
  readonly latest: number | null
}

export const Sparkline = memo(function Sparkline({ latencies, latest }: SparklineProps) {
  return (
    <span className={styles.sparkline}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={wordsFor(latencies)}>
        {latencies.length > 1 && <path d={lineThrough(latencies)} />}
      </svg>
      <span className={styles.latest}>{latest === null ? '–' : took(latest)}</span>
    </span>
  )
})

/** The scale starts at 0, so that a flat line means a steady backend. */
function lineThrough(latencies: readonly number[]): string {
  const most = Math.max(...latencies, 10)
  const step = (WIDTH - 2 * EDGE) / (latencies.length - 1)
  return latencies
    .map((ms, at) => {
      const [x, y] = [EDGE + at * step, HEIGHT - EDGE - (ms / most) * (HEIGHT - 2 * EDGE)]
      return `${at === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`
    })
    .join('')
}

function wordsFor(latencies: readonly number[]): string {
  if (latencies.length === 0) return 'No latency measured'
  return `Latency of the last ${latencies.length} checks: ${Math.min(...latencies)} to ${Math.max(...latencies)} milliseconds`
}
