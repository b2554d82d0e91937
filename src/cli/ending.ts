import { Refusal, Unreachable } from '../client/refusal.ts'
import { Declined, UsageError } from '../terminal/declare.ts'
import { standardOutput } from '../terminal/escape-text.ts'
import { screenOn } from '../terminal/screen.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'
import { nextCommand } from './next-action.ts'
import { type ProblemView, refusalLines } from './views/steps.ts'

const REACH_IT = 'See that it runs, and name it with --url, DRAWBRIDGE_URL or url in ~/.config/drawbridge/config.yaml.'

/** Tells why a command ended, what next, and gives the code for scripts. Never a stack. */
export function endWith(error: unknown, json: boolean): number {
  const { problem, exitCode } = ending(error)
  if (json) standardOutput().say(JSON.stringify(problem, null, 2))
  else {
    const screen = screenOn(process.stderr, process.env)
    screen.say(...('title' in problem ? refusalLines(problem, screen) : [`drawbridge: ${problem.detail}`]))
  }
  return exitCode
}

interface Ending {
  readonly problem: ProblemView | { readonly code: string; readonly detail: string }
  readonly exitCode: number
}

function ending(error: unknown): Ending {
  if (error instanceof Refusal) {
    const refused = error.problem as unknown as ProblemView
    const problem = { ...refused, nextAction: nextCommand(refused.code, refused.nextAction) }
    return { problem, exitCode: exitCodeOf(problem) }
  }
  if (error instanceof Unreachable) {
    const problem = { title: 'The service cannot be reached', code: 'unreachable', nextAction: REACH_IT }
    return { problem: { ...problem, detail: `${error.message}.`, retryable: true }, exitCode: EXIT.unreachable }
  }
  const detail = error instanceof Error ? error.message : String(error)
  if (error instanceof Declined) return { problem: { code: 'declined', detail }, exitCode: EXIT.declined }
  return error instanceof UsageError
    ? { problem: { code: 'usage', detail }, exitCode: EXIT.usage }
    : { problem: { code: 'failed', detail }, exitCode: EXIT.notWell }
}
