import type { Screen, Tone } from '../../terminal/screen.ts'
import { hanging } from '../../terminal/text.ts'
import { type CheckView, checkLines } from './plan.ts'

export interface StepView {
  readonly name: string
  readonly status: string
  readonly ms?: number | undefined
  readonly detail?: string | undefined
}

/** What a step does, by its name in a run. */
const TITLES: Readonly<Record<string, string>> = {
  check: 'look again at backend, name, certificate and edge',
  backup: "keep the edge's files as they stand",
  certificate: 'certificate',
  proxy: 'nginx, tested and reloaded',
  'proxy-tls': 'nginx with HTTPS, tested and reloaded',
  dns: 'DNS name',
  verify: 'verify on the Primary',
}

export const titleOf = (step: string): string => TITLES[step] ?? step

const SIGNS: Readonly<Record<string, readonly [sign: string, tone: Tone]>> = {
  done: ['✔', 'good'],
  failed: ['✖', 'bad'],
  undone: ['↩', 'careful'],
  undo_failed: ['✖', 'bad'],
}

export function stepLine({ name, status, ms, detail }: StepView, screen: Screen): string {
  const [sign, tone] = SIGNS[status] ?? ['·', 'dim']
  const undone = status.startsWith('undo') ? ', put back' : ''
  const time = ms === undefined ? '' : screen.paint('dim', ` ${Math.round(ms)} ms`)
  return `  ${screen.paint(tone, sign)} ${titleOf(name)}${undone}${time}${detail === undefined ? '' : `: ${detail}`}`
}

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
