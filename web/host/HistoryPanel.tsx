import { useState } from 'react'
import { type Days, type HostHistory, useHostHistory } from '../api/history.ts'
import { Panel } from '../parts/Panel.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { useNow } from '../parts/time.ts'
import { Chart } from './Chart.tsx'
import { type Pace, paceOf } from './chart-lines.ts'
import styles from './HostPage.module.css'
import { Incidents } from './Incidents.tsx'

type Range = Days | 'hour'

const RANGES: readonly (readonly [Range, string])[] = [
  ['hour', 'Last hour'],
  ['1', '24 hours'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
]

/** A host that is younger than this has its first hour drawn over minutes. */
const FEW_HOURS = 2

export function HistoryPanel({ host }: { readonly host: string }) {
  const now = useNow(30_000)
  const [chosen, setChosen] = useState<Range>()
  const { data, error, isPending, refetch } = useHostHistory(
    host,
    chosen === undefined || chosen === 'hour' ? '1' : chosen,
  )
  const range = chosen ?? (data && isYoung(data) ? 'hour' : '1')
  const pace: Pace | undefined = data && paceOf(data, range === 'hour', now)
  return (
    <Panel title="Uptime, latency and incidents">
      <fieldset className={styles.ranges}>
        <legend className="off-screen">Time</legend>
        {RANGES.map(([value, words]) => (
          <button
            key={value}
            type="button"
            className={styles.range}
            aria-pressed={value === range}
            onClick={() => setChosen(value)}
          >
            {words}
          </button>
        ))}
      </fieldset>
      {isPending && <Skeleton lines={4} what="the history" />}
      {error && !data && <Trouble fault={error} again={() => void refetch()} />}
      {data && pace && (
        <>
          <Chart pace={pace} what="uptime" />
          <Chart pace={pace} what="latency" />
          <Incidents incidents={data.incidents} days={data.days} />
        </>
      )}
    </Panel>
  )
}

const isYoung = ({ slots, minutes = [] }: HostHistory): boolean => slots.length <= FEW_HOURS && minutes.length > 0
