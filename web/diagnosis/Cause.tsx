import type { Diagnosis } from '../api/diagnosis.ts'
import { CopyButton } from '../parts/CopyButton.tsx'
import styles from './Cause.module.css'

/** The cause and the advice, in the colour of how serious the cause is. Undefined as long as it is sought: a screen reader says what comes. */
export function Cause({ cause }: { readonly cause: Diagnosis['cause'] | undefined }) {
  return (
    <div className={cause && styles.cause} data-level={cause?.level}>
      <div role="status" className={styles.words}>
        {cause && (
          <>
            <p className={styles.sentence}>{cause.sentence}</p>
            <p className={styles.advice}>{cause.advice}</p>
          </>
        )}
      </div>
      {cause && (
        <div className={styles.copy}>
          <CopyButton text={`${cause.sentence} ${cause.advice}`} what="cause and advice" />
        </div>
      )}
    </div>
  )
}
