import type { Screen, Tone } from '../../terminal/screen.ts'
import { hanging } from '../../terminal/text.ts'
import { type FindingView, findingText } from './adoption.ts'
import { fieldSentences } from './field-errors.ts'
import { type CheckView, checkLines } from './plan.ts'

export interface StepView {
  readonly name: string
  readonly status: string
  readonly ms?: number | undefined
  readonly detail?: string | undefined
}

const TITLES: Readonly<Record<string, string>> = {
  check: 'check backend, name, certificate and edge again',
  backup: 'keep what stands',
  certificate: 'get the certificate',
  proxy: 'test and reload nginx',
  'proxy-tls': 'test and reload nginx with HTTPS',
  dns: 'change DNS',
  verify: 'verify on the Primary',
}

export const titleOf = (step: string): string => TITLES[step] ?? step

const SIGNS: Readonly<Record<string, readonly [sign: string, tone: Tone]>> = {
  done: ['✔', 'good'],
  failed: ['✖', 'bad'],
  undone: ['↩', 'careful'],
  undo_failed: ['✖', 'bad'],
}

/** One step that has ended: its sign, its title, its duration, and the reason where it failed. */
export function stepLines({ name, status, ms, detail }: StepView, screen: Screen): string[] {
  const [sign, tone] = SIGNS[status] ?? ['·', 'dim']
  const undo = status.startsWith('undo') ? 'undo: ' : ''
  const time = ms === undefined ? '' : ` ${Math.round(ms)} ms`
  const text = `${undo}${titleOf(name)}${time}${detail === undefined ? '' : `: ${detail}`}`
  return hanging(`  ${screen.paint(tone, sign)} `, 4, text, screen.columns)
}

export interface ProblemView {
  readonly title: string
  readonly code: string
  readonly detail: string
  readonly nextAction: string
  readonly retryable: boolean
  readonly retryAfter?: number | undefined
  readonly requestId?: string | undefined
  /** What the agent of an edge said, quoted. */
  readonly edgeSays?: string | undefined
  readonly errors?: readonly { readonly field: string; readonly message: string }[] | undefined
  readonly checks?: readonly CheckView[] | undefined
  /** Of a hand-written site: what would be lost, and why it cannot be adopted. */
  readonly losses?: readonly FindingView[] | undefined
  readonly reasons?: readonly FindingView[] | undefined
  readonly steps?: readonly StepView[] | undefined
  readonly rollback?: readonly StepView[] | undefined
}

const isToldBelow = ({ title, code, detail, errors = [], checks = [], steps = [] }: ProblemView): boolean =>
  (code === 'invalid_request' && errors.length > 0) ||
  [`${title}.`, ...errors.map(({ message }) => message), ...[...checks, ...steps].map((told) => told.detail)].includes(
    detail,
  )

export function refusalLines(problem: ProblemView, screen: Screen): string[] {
  const { title, code, detail, nextAction, retryAfter, requestId, edgeSays, errors = [], checks = [] } = problem
  const part = (name: string, text: string) => hanging(`  ${name.padEnd(6)}`, 8, text, screen.columns)
  return [
    `${screen.paint('bad', code === 'invalid_request' ? 'A value is not valid' : title)} (${code})`,
    // A reason that a field, a check or a step tells is not told twice.
    ...(isToldBelow(problem) ? [] : part('why', detail)),
    ...fieldSentences(errors).flatMap((sentence, index) =>
      part(index === 0 && isToldBelow(problem) ? 'why' : '', sentence),
    ),
    ...[...(problem.losses ?? []), ...(problem.reasons ?? [])].flatMap((each) => part('', findingText(each))),
    ...checkLines(checks, screen),
    ...[...(problem.steps ?? []), ...(problem.rollback ?? [])].flatMap((step) => stepLines(step, screen)),
    ...(edgeSays === undefined ? [] : part('edge', `Its agent says: ${edgeSays}`)),
    ...part('next', nextAction),
    ...(retryAfter === undefined ? [] : part('', `Try again in ${retryAfter} s.`)),
    ...(code === 'internal_error' && requestId !== undefined ? part('id', requestId) : []),
  ]
}
