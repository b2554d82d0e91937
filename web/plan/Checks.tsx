import { useEffect, useState } from 'react'
import type { ProblemBody } from '../../src/client/index.ts'
import type { Check } from '../../src/model/finding.ts'
import { Icon, type IconName } from '../parts/icons.tsx'
import { withDates } from '../parts/time.ts'
import styles from './Checks.module.css'
import { evidenceOf } from './evidence.ts'
import { adviceFor, fieldOf } from './refused.ts'

interface ChecksProps {
  readonly isRunning: boolean
  readonly checks: readonly Check[]
  readonly problem?: ProblemBody | undefined
  readonly onShown?: () => void
  /** The checks were made earlier, so all of them appear together. */
  readonly areOld?: boolean
}

const QUESTIONS: readonly { readonly name: Check['name']; readonly title: string; readonly question: string }[] = [
  { name: 'health', title: 'Backend', question: 'Does the backend answer its health path with HTTP 2xx?' },
  { name: 'dns', title: 'Name', question: 'Is the name free of records, delegations and other exposures?' },
  { name: 'certificate', title: 'Certificate', question: 'Is there a certificate for the name, or can one be issued?' },
  { name: 'proxy', title: 'Edge', question: "Is nginx's configuration valid, and the name in no other server block?" },
]

const MARKS: Record<Check['status'], IconName> = {
  passed: 'check',
  warning: 'warning',
  not_required: 'dash',
  failed: 'cross',
}
const WORDS: Record<Check['status'], string> = {
  passed: 'Passed',
  warning: 'Passed, with a warning',
  not_required: 'Not required',
  failed: 'Failed',
}

/** The four checks of a plan. They run in parallel and appear one after the other. */
export function Checks({ isRunning, checks, problem, onShown, areOld = false }: ChecksProps) {
  const shown = useOneByOne(checks.length, areOld, onShown)
  return (
    <ol className={styles.checks}>
      {QUESTIONS.map(({ name, title, question }, at) => {
        const check = at < shown ? checks.find((one) => one.name === name) : undefined
        const isAwaited = isRunning || (checks.length > 0 && !check)
        return (
          <li key={name} className={styles.check} data-status={check?.status ?? (isAwaited ? 'running' : 'idle')}>
            <span className={styles.mark} aria-hidden="true">
              {check ? <Icon name={MARKS[check.status]} /> : at + 1}
            </span>
            <div className={styles.words}>
              <h3>
                {title}
                <span className={styles.status}>{check ? WORDS[check.status] : isAwaited ? 'Looking…' : ''}</span>
              </h3>
              {check?.status === 'failed' && problem ? (
                <Failed check={check} problem={problem} />
              ) : (
                <p className={styles.detail}>{check ? withDates(check.detail) : question}</p>
              )}
              {check && <Evidence check={check} />}
            </div>
          </li>
        )
      })}
    </ol>
  )
}

/** Why a check failed stands once: at its field, or here where no field causes it. */
function Failed({ check, problem }: { readonly check: Check; readonly problem: ProblemBody }) {
  const field = fieldOf(check)
  if (field !== undefined) return <p className={styles.detail}>The reason stands at the field “{field}”.</p>
  return (
    <>
      <p className={styles.detail}>{withDates(check.detail)}</p>
      <p className={styles.advice}>{adviceFor(check, problem)}</p>
    </>
  )
}

function Evidence({ check }: { readonly check: Check }) {
  const evidence = evidenceOf(check)
  if (evidence.length === 0) return null
  return (
    <ul className={styles.evidence}>
      {evidence.map((fact) => (
        <li key={fact}>{fact}</li>
      ))}
    </ul>
  )
}

const PAUSE_MS = 240

/** The number of checks that are visible now. */
function useOneByOne(count: number, isAtOnce: boolean, onShown: (() => void) | undefined): number {
  const [shown, setShown] = useState(isAtOnce ? count : 0)
  // Announced once, when the last check has appeared.
  useEffect(() => {
    if (count === 0) return
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
    if (shown >= count) {
      onShown?.()
      return
    }
    const timer = window.setTimeout(() => setShown(isCalm ? count : shown + 1), isCalm ? 0 : PAUSE_MS)
    return () => window.clearTimeout(timer)
  }, [count, shown])
  return shown
}
