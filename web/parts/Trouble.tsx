import { Refusal } from '../../src/client/index.ts'
import { Button } from './Button.tsx'
import { Notice } from './Notice.tsx'
import { nextStep } from './next-step.ts'
import styles from './Trouble.module.css'

interface TroubleProps {
  readonly fault: Error
  readonly again?: () => void
}

/** Why something could not be shown or done, and what to do about it. */
export function Trouble({ fault, again }: TroubleProps) {
  const problem = fault instanceof Refusal ? fault.problem : undefined
  return (
    <Notice tone="bad" title={problem?.title ?? 'The service cannot be reached'} live>
      <p>{problem ? problem.detail : 'Nothing answered. Retrying automatically.'}</p>
      {problem && <p>{nextStep(problem)}</p>}
      {typeof problem?.retryAfter === 'number' && <p>Wait {problem.retryAfter} s before the next try.</p>}
      {problem && (
        <p className={styles.code}>
          <code>{problem.code}</code> · <code>{problem.requestId}</code>
        </p>
      )}
      {again && (
        <p>
          <Button icon="again" onClick={again}>
            Try again
          </Button>
        </p>
      )}
    </Notice>
  )
}
