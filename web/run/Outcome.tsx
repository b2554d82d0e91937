import type { Action, Plan, RunEvent } from '../api/plans.ts'
import { Notice, type Tone } from '../parts/Notice.tsx'
import { took } from '../parts/time.ts'
import { Link } from '../shell/Link.tsx'
import { Resolving } from './Resolving.tsx'
import styles from './RunStory.module.css'
import { type RunView, whatToDo } from './steps.ts'

interface OutcomeProps {
  readonly plan: Plan
  readonly action: Action
  readonly view: RunView
  readonly ended: string
}

/** The result of a run in one sentence, and the answer of each edge. */
export function Outcome({ plan, action, view, ended }: OutcomeProps) {
  const isPutBack = wasPutBack(action, view, ended)
  const failed = view.steps.find(({ status }) => status === 'failed')
  const { tone, title } = verdictOn(plan.host, action, ended, isPutBack, failed?.detail)
  const time = view.ms === undefined ? '' : ` It took ${took(view.ms)}.`
  return (
    <div className={styles.outcome}>
      <Notice tone={tone} title={title} live>
        {ended === 'applied' && !isPutBack && (
          <p>
            <a href={plan.url} target="_blank" rel="noreferrer" className={styles.visit}>
              Visit {plan.url}
            </a>{' '}
            · <Link to={`/hosts/${plan.host}`}>View status</Link>.{time}
          </p>
        )}
        {ended === 'removed' && <p>Name and proxy entry are gone; the backend was not touched.{time}</p>}
        {ended === 'released' && <p>It stays on the air, and Drawbridge no longer manages it.{time}</p>}
        {isPutBack && (
          <p>
            Everything was rolled back. {failed && whatToDo(failed.name, action)}
            {time}
          </p>
        )}
        {ended === 'blocked' && <Resolving planId={plan.planId} />}
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

/** After a run that was put back, other than an apply or a change, the plan is applied as before. */
function wasPutBack(action: Action, { hasFailed }: RunView, ended: string): boolean {
  if (ended === 'rolled_back') return true
  if (ended !== 'applied') return false
  return action === 'remove' || action === 'accept' || ((action === 'repair' || action === 'renew') && hasFailed)
}

function verdictOn(
  host: string,
  action: Action,
  ended: string,
  isPutBack: boolean,
  reason = '',
): { tone: Tone; title: string } {
  if (ended === 'blocked') return { tone: 'bad', title: `${host} is blocked` }
  if (isPutBack)
    return {
      tone: 'warning',
      title: `The ${NOUNS[action]} of ${host} failed${reason ? `: ${reason}` : ' and was rolled back'}`,
    }
  return { tone: 'good', title: `${host} ${DONE[action]}` }
}

const NOUNS: Record<Action, string> = {
  apply: 'apply',
  update: 'change',
  remove: 'removal',
  repair: 'repair',
  accept: 'accept',
  renew: 'renewal',
  converge: 'update of an edge',
}

const DONE: Record<Action, string> = {
  apply: 'is on the air',
  update: 'was changed',
  remove: 'is off the air',
  repair: 'was repaired',
  accept: 'was accepted as it stands',
  renew: 'has a new certificate',
  converge: 'is the same on all edges',
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
