import type { HostHistory } from '../api/history.ts'
import { Badge } from '../parts/Badge.tsx'
import { inFull, span, useNow } from '../parts/time.ts'
import styles from './Incidents.module.css'

/** More are counted, not listed. */
const MOST = 20

/** When the host was not well, newest first. */
export function Incidents({ incidents, days }: Pick<HostHistory, 'incidents' | 'days'>) {
  const now = useNow(10_000)
  const time = days === 1 ? '24 hours' : `${days} days`
  return (
    <section className={styles.incidents} aria-label="Incidents">
      <h3>Incidents</h3>
      {incidents.length === 0 ? (
        <p className={styles.none}>None in the last {time}.</p>
      ) : (
        <ol>
          {incidents.slice(0, MOST).map(({ began, ended, badges }) => (
            <li key={`${began}${ended}`} className={styles.incident}>
              <span className={styles.badges}>
                {badges.map((badge) => (
                  <Badge key={badge} badge={badge} />
                ))}
              </span>
              <span>
                {began === null ? 'Began before the events that are kept' : `Began ${inFull(began)}`},{' '}
                {ended === null ? 'ongoing' : `ended ${inFull(ended)}`}
                {began !== null && ` (${span((ended === null ? now : Date.parse(ended)) - Date.parse(began))})`}
              </span>
            </li>
          ))}
        </ol>
      )}
      {incidents.length > MOST && <p className={styles.none}>and {incidents.length - MOST} earlier ones</p>}
    </section>
  )
}
