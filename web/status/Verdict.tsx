import type { NeedCount } from './attention.ts'
import type { View } from './host-list.ts'
import styles from './StatusPage.module.css'

interface VerdictProps {
  readonly counts: readonly NeedCount[]
  readonly total: number
  readonly chosen: View['need']
  readonly onChoose: (need: View['need']) => void
}

/** What needs somebody, in one sentence. Each part shows only its hosts, and pressed again all of them. */
export function Verdict({ counts, total, chosen, onChoose }: VerdictProps) {
  const isWell = counts.every(({ need }) => need === 'muted')
  return (
    <fieldset className={styles.verdict}>
      <legend className="off-screen">What needs attention</legend>
      {isWell && (
        <span className={styles.part}>
          <strong className={styles.well}>{wellWords(total, counts)}</strong>
        </span>
      )}
      {counts.map(({ need, words }) => (
        <span key={need} className={styles.part}>
          <button
            type="button"
            className={styles.need}
            data-need={need}
            aria-pressed={chosen.includes(need)}
            onClick={() => onChoose(chosen.includes(need) ? chosen.filter((one) => one !== need) : [...chosen, need])}
          >
            {words}
          </button>
        </span>
      ))}
    </fieldset>
  )
}

const wellWords = (total: number, counts: readonly NeedCount[]): string =>
  counts.length === 0 && total === 1
    ? 'The host is well'
    : counts.length === 0
      ? `All ${total.toLocaleString('en')} hosts are well`
      : `All others of ${total.toLocaleString('en')} hosts are well`
