import type { Diagnosis } from '../api/diagnosis.ts'
import { CopyButton } from '../parts/CopyButton.tsx'
import styles from './Cause.module.css'

/** The cause and the advice, in the colour of how serious the cause is. */
export function Cause({ cause }: { readonly cause: Diagnosis['cause'] }) {
  return (
    <div className={styles.cause} data-level={cause.level}>
      <p className={styles.sentence}>{cause.sentence}</p>
      <p className={styles.advice}>{cause.advice}</p>
      <div className={styles.copy}>
        <CopyButton text={`${cause.sentence} ${cause.advice}`} what="cause and advice" />
      </div>
    </div>
  )
}
