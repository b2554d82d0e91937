import type { Action, Plan, RunEvent } from '../api/plans.ts'
import { Icon, type IconName } from '../parts/icons.tsx'
import { took, useNow } from '../parts/time.ts'
import { Outcome } from './Outcome.tsx'
import styles from './RunStory.module.css'
import { expectedSteps, runView, type StepView, type UndoView, wordsFor } from './steps.ts'

interface RunStoryProps {
  readonly plan: Plan
  readonly action: Action
  readonly events: readonly RunEvent[]
  readonly isRunning: boolean
}

/** The steps of a run, live and afterwards. */
export function RunStory({ plan, action, events, isRunning }: RunStoryProps) {
  const now = useNow(isRunning ? 100 : 60_000)
  const expected = expectedSteps(action, plan)
  const view = runView(events, expected, now)
  const done = view.steps.filter(({ status }) => status === 'done').length
  const isEnded = view.ended !== undefined
  return (
    <div className={styles.story}>
      {!isEnded && isRunning && (
        <div className={styles.progress}>
          <progress
            {...(expected.length > 0 && { value: done, max: view.steps.length })}
            aria-label={PROGRESS[action]}
          />
          <p role="status">
            {expected.length > 0 ? `Step ${Math.min(done + 1, view.steps.length)} of ${view.steps.length}` : 'Running'}
          </p>
        </div>
      )}
      {view.ended !== undefined && <Outcome plan={plan} action={action} view={view} ended={view.ended} />}
      <ol className={styles.steps} aria-label="Steps">
        {view.steps.map((step) => (
          <Step key={step.name} {...step} words={wordsFor(step.name, action)} />
        ))}
      </ol>
      {view.undos.length > 0 && (
        <>
          <h3>Rolled back, newest first</h3>
          <ol className={styles.steps} aria-label="Rolled back">
            {view.undos.map((undo) => (
              <Step key={undo.name} {...undo} words={wordsFor(undo.name, action)} />
            ))}
          </ol>
        </>
      )}
    </div>
  )
}

const PROGRESS: Record<Action, string> = {
  apply: 'Applying',
  update: 'Changing',
  remove: 'Removing',
  repair: 'Repairing',
  accept: 'Accepting',
  renew: 'Renewing',
  converge: 'Updating an edge',
}

type Status = StepView['status'] | UndoView['status']

const MARKS: Partial<Record<Status, IconName>> = { done: 'check', failed: 'cross', undone: 'again' }
const WORDS: Record<Status, string> = {
  waiting: 'Pending',
  running: 'Running',
  done: 'Done',
  failed: 'Failed',
  undone: 'Rolled back',
}

interface StepProps {
  readonly words: string
  readonly status: Status
  readonly ms: number | undefined
  readonly detail: string | undefined
}

function Step({ words, status, ms, detail }: StepProps) {
  const mark = MARKS[status]
  return (
    <li className={styles.step} data-status={status}>
      <span className={styles.mark} aria-hidden="true">
        {mark && <Icon name={mark} />}
      </span>
      <span className={styles.words}>{words}</span>
      <span className={styles.status}>{WORDS[status]}</span>
      <span className={styles.time}>{ms === undefined ? '' : took(ms)}</span>
      {detail && <p className={styles.detail}>{detail}</p>}
    </li>
  )
}
