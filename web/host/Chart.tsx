import { atTime, inFull, took } from '../parts/time.ts'
import { percent } from '../status/Strip.tsx'
import styles from './Chart.module.css'
import { describe, type Pace, pointsOf } from './chart-lines.ts'

const [WIDTH, HEIGHT] = [640, 96]

interface ChartProps {
  readonly pace: Pace
  readonly what: 'uptime' | 'latency'
}

/** Uptime or latency over time, with the incidents behind it. The description says what a person would read from the picture. */
export function Chart({ pace, what }: ChartProps) {
  const { slots, bands, from, to, isLine } = pace
  const at = (iso: string) => atTime(iso, to)
  const most = what === 'uptime' ? 1 : Math.max(10, ...slots.map(({ latencyMs }) => latencyMs ?? 0))
  return (
    <figure className={styles.chart}>
      <figcaption>{describe(pace, what, at)}</figcaption>
      {slots.length > 0 && (
        <div className={styles.plot}>
          <span className={styles.most} aria-hidden="true">
            {what === 'uptime' ? '100 %' : took(most)}
          </span>
          <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
            {bands.map((band) => (
              <rect
                key={`${band.from} ${band.to}`}
                className={styles.incident}
                x={band.from * WIDTH}
                y={0}
                width={Math.max(2, (band.to - band.from) * WIDTH)}
                height={HEIGHT}
              >
                <title>{band.badges.join(', ')}</title>
              </rect>
            ))}
            {isLine ? <Line pace={pace} what={what} most={most} /> : <Bars pace={pace} what={what} most={most} />}
          </svg>
        </div>
      )}
      {slots.length > 0 && (
        <p className={styles.scale} aria-hidden="true">
          <span>{isLine ? at(new Date(from).toISOString()) : inFull(new Date(from).toISOString())}</span>
          {bands.length > 0 && <span className={styles.legend}>incident</span>}
          <span>now</span>
        </p>
      )}
    </figure>
  )
}

interface DrawnProps extends ChartProps {
  readonly most: number
}

function Line({ pace, what, most }: DrawnProps) {
  const points = pointsOf(pace, (slot) => (what === 'uptime' ? slot.uptime : slot.latencyMs), most)
  const [first] = points
  if (!first) return null
  const places = points.map(({ x, y }) => `${(x * WIDTH).toFixed(1)} ${((1 - y) * (HEIGHT - 6) + 3).toFixed(1)}`)
  // One minute is no line yet.
  const line = places.length === 1 ? `M${places[0]}h8` : `M${places.join('L')}`
  const last = points.at(-1) ?? first
  return (
    <>
      {places.length > 1 && (
        <path
          className={styles[`${what}Area`]}
          d={`${line}L${last.x * WIDTH} ${HEIGHT}L${first.x * WIDTH} ${HEIGHT}Z`}
        />
      )}
      <path className={styles[`${what}Line`]} d={line} />
    </>
  )
}

function Bars({ pace: { slots, from, to, stepMs }, what, most }: DrawnProps) {
  const width = WIDTH / ((to - from) / stepMs)
  return slots.map(({ at, uptime, latencyMs }) => {
    const value = what === 'uptime' ? uptime : latencyMs
    if (value === null) return null
    // A down bar must be seen, too.
    const height = Math.max(3, (value / most) * HEIGHT)
    const look = what === 'latency' ? 'latency' : value === 1 ? 'good' : value >= 0.5 ? 'shaky' : 'bad'
    return (
      <rect
        key={at}
        className={styles[look]}
        x={((Date.parse(at) - from) / stepMs) * width}
        y={HEIGHT - height}
        width={Math.max(1, width - Math.min(2, width / 4))}
        height={height}
      >
        <title>{`${inFull(at)}: ${what === 'uptime' ? percent(value) : took(value)}`}</title>
      </rect>
    )
  })
}
