import { Refusal, Unreachable } from '../client/refusal.ts'
import { Declined, UsageError } from '../terminal/declare.ts'
import { type Format, printAs } from '../terminal/print.ts'
import { screenOn } from '../terminal/screen.ts'
import { hostOfPlan } from './api-client.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'
import { nextCommand, type Subject } from './next-action.ts'
import { notedPlan, wereShown } from './steps-display.ts'
import { type ProblemView, refusalLines } from './views/steps.ts'

const CONNECT =
  'Check that the service runs. Set its address with --url, DRAWBRIDGE_URL or url in ~/.config/drawbridge/config.yaml.'

/** Prints why a command failed and what to do next, never a stack trace. Resolves with the exit code. */
export async function endWith(error: unknown, format: Format | undefined, named?: string): Promise<number> {
  const isDocument = format === 'json' || format === 'yaml'
  const { problem, exitCode } = ending(error, isDocument, named)
  if (isDocument) await printAs({ body: problem, lines: () => [] }, format)
  else {
    const screen = screenOn(process.stderr, process.env)
    screen.print(...('title' in problem ? refusalLines(problem, screen) : `drawbridge: ${problem.detail}`.split('\n')))
  }
  return exitCode
}

/** What was typed is a host or a plan. */
const subjectOf = (named = ''): Subject =>
  named.startsWith('plan_') ? { planId: named, host: hostOfPlan(named) } : { host: named || undefined }

interface Ending {
  readonly problem: ProblemView | { readonly code: string; readonly detail: string }
  readonly exitCode: number
}

function ending(error: unknown, isDocument: boolean, named: string | undefined): Ending {
  if (error instanceof Refusal) {
    const refused = error.problem as unknown as ProblemView
    const subject = subjectOf(named)
    const planId = notedPlan(error) ?? subject.planId
    const problem = { ...refused, nextAction: nextCommand(error.problem, { ...subject, planId }) }
    // A person has seen the steps while they ran.
    if (wereShown(error) && !isDocument)
      return { problem: { ...problem, steps: [], rollback: [] }, exitCode: exitCodeOf(problem) }
    return { problem, exitCode: exitCodeOf(problem) }
  }
  if (error instanceof Unreachable) {
    const problem = { title: 'Cannot connect to the service', code: 'unreachable', nextAction: CONNECT }
    return { problem: { ...problem, detail: error.message, retryable: true }, exitCode: EXIT.unreachable }
  }
  const detail = error instanceof Error ? error.message : String(error)
  if (error instanceof Declined) return { problem: { code: 'declined', detail }, exitCode: EXIT.declined }
  return error instanceof UsageError
    ? { problem: { code: 'usage', detail }, exitCode: EXIT.usage }
    : { problem: { code: 'failed', detail }, exitCode: EXIT.notWell }
}
