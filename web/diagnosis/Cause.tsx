import type { Diagnosis } from '../api/diagnosis.ts'
import { CopyButton } from '../parts/CopyButton.tsx'
import styles from './Cause.module.css'

interface CauseProps {
  readonly cause: Diagnosis['cause']
  readonly badge: string
}

/** The cause and the advice. */
export function Cause({ cause, badge }: CauseProps) {
  return (
    <div className={styles.cause} data-well={badge === 'RUNNING'}>
      <p className={styles.sentence}>{cause.sentence}</p>
      <p className={styles.advice}>{cause.advice}</p>
      <div className={styles.copy}>
        <CopyButton text={`${cause.sentence} ${cause.advice}`} what="cause and advice" />
      </div>
    </div>
  )
}
