import type { Difference } from '../api/drift.ts'
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
        {differences.map(({ part, field, expected, found, overwrite, server }) => (
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
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
