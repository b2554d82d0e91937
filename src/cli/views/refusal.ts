import type { Screen } from '../../terminal/screen.ts'
import { hanging } from '../../terminal/text.ts'
import { type CheckView, checkLines } from './plan.ts'
import { type StepView, stepLine } from './steps.ts'

export interface ProblemView {
  readonly title: string
  readonly code: string
  readonly detail: string
  readonly nextAction: string
  readonly retryable: boolean
  readonly retryAfter?: number | undefined
  readonly requestId?: string | undefined
  readonly errors?: readonly { readonly field: string; readonly message: string }[] | undefined
  readonly checks?: readonly CheckView[] | undefined
  readonly steps?: readonly StepView[] | undefined
  readonly rollback?: readonly StepView[] | undefined
}

/** What, why, and what next. */
export function refusalLines(problem: ProblemView, screen: Screen): string[] {
  const { title, code, detail, nextAction, retryAfter, requestId, errors = [], checks = [] } = problem
  const part = (name: string, text: string) => hanging(`  ${name.padEnd(6)}`, 8, text, screen.columns)
  return [
    `${screen.paint('bad', title)} (${code})`,
    ...part('why', detail),
    ...errors.flatMap(({ field, message }) => part('', `${field} ${message}`)),
    ...checkLines(checks, screen),
    ...[...(problem.steps ?? []), ...(problem.rollback ?? [])].map((step) => stepLine(step, screen)),
    ...part('next', nextAction),
    ...(retryAfter === undefined ? [] : part('', `Try again in ${retryAfter} s.`)),
    ...(code === 'internal_error' && requestId !== undefined ? part('id', requestId) : []),
  ]
}
