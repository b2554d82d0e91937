import type { Action, Plan, RunEvent } from '../api/plans.ts'
import { Notice, type Tone } from '../parts/Notice.tsx'
import { took } from '../parts/time.ts'
import { Link } from '../shell/Link.tsx'
import styles from './RunStory.module.css'
import type { RunView } from './steps.ts'

interface OutcomeProps {
  readonly plan: Plan
  readonly action: Action
  readonly view: RunView
  readonly ended: string
}

/** The result of a run in one sentence, and the answer of each edge. */
export function Outcome({ plan, action, view, ended }: OutcomeProps) {
  const { tone, title } = verdictOn(plan.host, action, ended)
  const time = view.ms === undefined ? '' : ` It took ${took(view.ms)}.`
  return (
    <div className={styles.outcome}>
      <Notice tone={tone} title={title} live>
        {ended === 'applied' && action !== 'remove' && (
          <p>
            <a href={plan.url}>{plan.url}</a> answers. <Link to={`/hosts/${plan.host}`}>See how it does</Link>.{time}
          </p>
        )}
        {ended === 'removed' && <p>Name and proxy entry are gone; the backend was not touched.{time}</p>}
        {isPutBack(action, ended) && <p>The step that failed and each that was put back stand below.{time}</p>}
        {ended === 'blocked' && (
          <p>
            Putting back failed, too. On the server, <code>drawbridge resolve {plan.planId}</code> shows what is left
            and finishes it.
          </p>
        )}
      </Notice>
      {view.verification && (
        <div className={styles.edges}>
          <Edge name="Primary" verdict={view.verification.primary} />
          {view.verification.secondary && <Edge name="Secondary" verdict={view.verification.secondary} isOptional />}
        </div>
      )}
    </div>
  )
}

const isPutBack = (action: Action, ended: string): boolean =>
  ended === 'rolled_back' || (action === 'remove' && ended === 'applied')

function verdictOn(host: string, action: Action, ended: string): { tone: Tone; title: string } {
  if (ended === 'blocked') return { tone: 'bad', title: `${host} is frozen` }
  if (isPutBack(action, ended)) {
    return { tone: 'warning', title: `The ${NOUNS[action]} of ${host} failed and everything was put back` }
  }
  if (ended === 'removed') return { tone: 'good', title: `${host} is off the air` }
  return { tone: 'good', title: action === 'update' ? `${host} was changed` : `${host} is on the air` }
}

const NOUNS: Record<Action, string> = {
  apply: 'apply',
  update: 'change',
  remove: 'removal',
  repair: 'repair',
  accept: 'accept',
  renew: 'renewal',
}

type Verdict = NonNullable<RunEvent['verification']>['primary']

interface EdgeProps {
  readonly name: string
  readonly verdict: Verdict
  readonly isOptional?: boolean
}

function Edge({ name, verdict: { server, ok, detail }, isOptional = false }: EdgeProps) {
  return (
    <div className={styles.edge} data-ok={ok}>
      <h3>
        {name} ({server})<span className={styles.verdict}>{ok ? '✓ verified' : '! not verified'}</span>
      </h3>
      <p>{detail}</p>
      {isOptional && !ok && <p>The Secondary does not decide: the exposure stands.</p>}
    </div>
  )
}
