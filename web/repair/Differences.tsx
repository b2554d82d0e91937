import type { Difference } from '../api/drift.ts'
import { Ago } from '../parts/Ago.tsx'
import { useNow } from '../parts/time.ts'
import { shortHash } from './acts.ts'
import styles from './Differences.module.css'

const PARTS: Record<Difference['part'], string> = {
  entry: 'Entry',
  record: 'Record',
  mark: 'Owner mark',
  certificate: 'Certificate',
}

interface DifferencesProps {
  readonly host: string
  readonly differences: readonly Difference[]
}

/** What was applied, and what is there instead. */
export function Differences({ host, differences }: DifferencesProps) {
  const now = useNow(10_000)
  return (
    <table className={styles.differences}>
      <caption className="off-screen">How {host} differs from its plan</caption>
      <thead>
        <tr>
          <th scope="col">Part</th>
          <th scope="col">Field</th>
          <th scope="col">Expected</th>
          <th scope="col">Found</th>
        </tr>
      </thead>
      <tbody>
        {differences.map((difference) => {
          const { part, field, expected, found, overwrite, server } = difference
          return (
            <tr key={`${part} ${field} ${server}`}>
              <th scope="row">{PARTS[part]}</th>
              <td className={styles.field}>
                {field}
                {server !== undefined && ` on edge ${server}`}
              </td>
              <td className={styles.expected}>
                <code title={expected}>{shortHash(expected)}</code>
              </td>
              <td className={styles.found} data-foreign={overwrite}>
                <code title={found}>{shortHash(found)}</code>
                {overwrite && <span className={styles.foreign}>changed outside Drawbridge</span>}
                <Where difference={difference} now={now} />
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

/** The file and its line, since when it is so, and whom else the same change touches. */
function Where({ difference, now }: { readonly difference: Difference; readonly now: number }) {
  const { file, line, since, alsoTouches = [], alsoTouchesMore = 0 } = difference
  const more = alsoTouchesMore > 0 ? ` and ${alsoTouchesMore} more` : ''
  return (
    <span className={styles.where}>
      {file && (
        <span>
          {file}
          {line !== undefined && `, line ${line}`}
        </span>
      )}
      {since && (
        <span>
          since <Ago at={since} now={now} />
        </span>
      )}
      {alsoTouches.length > 0 && (
        <span>
          It also touches {alsoTouches.join(', ')}
          {more}.
        </span>
      )}
    </span>
  )
}
