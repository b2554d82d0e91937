import { Ago } from '../parts/Ago.tsx'
import { useNow } from '../parts/time.ts'
import { Link } from '../shell/Link.tsx'
import styles from './ActivityLines.module.css'
import { type ActivityLine, type Burst, burstsOf, rawOf } from './activity.ts'

interface ActivityLinesProps {
  readonly lines: readonly ActivityLine[]
  readonly withHost?: boolean
}

/** What happened, in sentences. What happened together is one line; the names of the API are behind it. */
export function ActivityLines({ lines, withHost = true }: ActivityLinesProps) {
  const now = useNow(10_000)
  return (
    <ol className={styles.lines} aria-label="Activity">
      {burstsOf(lines).map((burst) => (
        <li key={burst.head.key} className={styles.line} data-tone={burst.head.tone}>
          <span className={styles.what}>
            {burst.hosts > 1 ? <Several burst={burst} /> : <Words line={burst.head} withLink={withHost} />}
          </span>
          <span className={styles.when}>
            <Ago at={burst.head.at} now={now} />
          </span>
          <Details burst={burst} withHost={withHost} />
        </li>
      ))}
    </ol>
  )
}

function Words({
  line: { before, host, after },
  withLink,
}: {
  readonly line: ActivityLine
  readonly withLink: boolean
}) {
  return (
    <>
      {before}
      {host && (withLink ? <Link to={`/hosts/${host}/details`}>{host}</Link> : <strong>{host}</strong>)}
      {after}
    </>
  )
}

function Several({ burst: { head, hosts } }: { readonly burst: Burst }) {
  const { before, after } = head.several ?? head
  return (
    <>
      {before}
      <strong>{hosts} hosts</strong>
      {after}
    </>
  )
}

function Details({ burst: { lines, head }, withHost }: { readonly burst: Burst; readonly withHost: boolean }) {
  const { planId } = head
  return (
    <details className={styles.details}>
      <summary>{lines.length > 1 ? `${lines.length - 1} more` : 'Details'}</summary>
      <ul>
        {lines.map((line) => (
          <li key={line.key}>
            {lines.length > 1 && <Words line={line} withLink={withHost} />}
            <code>{rawOf(line)}</code>
          </li>
        ))}
      </ul>
      {planId && <Link to={`/plans/${planId}`}>Open plan</Link>}
    </details>
  )
}
