import type { Clock } from '../primitives/clock.ts'
import type { Screen } from '../terminal/screen.ts'
import { stepLines, titleOf } from './views/steps.ts'

/** One event of a run, as the plan's event stream reports it. */
interface StepEvent {
  readonly name: string
  readonly step: string
  readonly at: string
  readonly detail?: string | undefined
}

/** Shows the steps of a run as they start and end. */
export interface StepsDisplay {
  readonly show: (event: StepEvent) => void
  /** Erases the line of a step that did not end. Must be called before anything else is printed. */
  finish(): void
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 80

const STARTS = ['started', 'undoing']
const ENDS = ['done', 'failed', 'undone', 'undo_failed']

/** Prints one line per step that has ended. A terminal also shows the running step, with a spinner. */
export function stepsDisplay(screen: Screen, clock: Clock): StepsDisplay {
  const running = new Map<string, { readonly title: string; readonly since: number }>()
  let frame = 0
  const draw = () => {
    const [step] = running.values()
    screen.showProgress(step ? `  ${FRAMES[frame % FRAMES.length]} ${step.title} …` : '')
  }
  const spinner = clock.every(FRAME_MS, () => {
    frame += 1
    draw()
  })
  return {
    show({ name: event, step, at, detail }) {
      if (step === 'run') return
      const now = Date.parse(at)
      // A step can report `started` more than once, with more detail.
      if (STARTS.includes(event) && !running.has(step)) {
        running.set(step, { title: event === 'undoing' ? `undo: ${titleOf(step)}` : titleOf(step), since: now })
      } else if (ENDS.includes(event)) {
        const ms = now - (running.get(step)?.since ?? now)
        running.delete(step)
        screen.print(...stepLines({ name: step, status: event, ms, detail }, screen))
      }
      draw()
    },
    finish() {
      spinner.cancel()
      screen.showProgress('')
    },
  }
}

const shown = new WeakSet<object>()

const plans = new WeakMap<object, string>()

/** Notes the plan whose run ended with this error. */
export function notePlan(error: unknown, planId: string): void {
  if (typeof error === 'object' && error !== null) plans.set(error, planId)
}

export const notedPlan = (error: object): string | undefined => plans.get(error)

/** Notes that a person has seen the steps of the run that ended with this error. */
export function noteShown(error: unknown): void {
  if (typeof error === 'object' && error !== null) shown.add(error)
}

export const wereShown = (error: object): boolean => shown.has(error)
