import type { Screen } from '../terminal/screen.ts'
import { stepLine, titleOf } from './views/steps.ts'

/** One thing that happened in a run, as the plan's stream tells it. */
interface StepEvent {
  readonly name: string
  readonly step: string
  readonly at: string
  readonly detail?: string | undefined
}

/** Shows a run's steps as they start and end. */
export interface StepsDisplay {
  readonly show: (event: StepEvent) => void
  /** Resolves when everything shown so far stands on the screen. */
  finish(): Promise<void>
}

const BEGINS = ['started', 'undoing']
const ENDS = ['done', 'failed', 'undone', 'undo_failed']

/** For files and pipes: one line when a step has ended. */
export function plainSteps(screen: Screen): StepsDisplay {
  const begun = new Map<string, number>()
  return {
    show({ name: event, step, at, detail }) {
      if (step === 'run') return
      if (BEGINS.includes(event) && !begun.has(step)) begun.set(step, Date.parse(at))
      if (!ENDS.includes(event)) return
      const ms = Date.parse(at) - (begun.get(step) ?? Date.parse(at))
      begun.delete(step)
      screen.say(stepLine({ name: step, status: event, ms, detail }, screen))
    },
    finish: async () => undefined,
  }
}

/** For a terminal: the step under way turns, those that ended stay. */
export async function liveSteps(): Promise<StepsDisplay> {
  const { Listr } = await import('listr2')
  const underWay = new Map<string, PromiseWithResolvers<void>>()
  let drawn: Promise<unknown> = Promise.resolve()
  const begin = (step: string, title: string): void => {
    // A step that learns more on its way says again that it has begun.
    if (underWay.has(step)) return
    const ending = Promise.withResolvers<void>()
    ending.promise.catch(() => undefined)
    underWay.set(step, ending)
    const list = new Listr([{ title, task: () => ending.promise }], { exitOnError: false })
    drawn = drawn.then(() => list.run()).catch(() => undefined)
  }
  const end = (step: string, fault?: Error): void => {
    if (fault) underWay.get(step)?.reject(fault)
    else underWay.get(step)?.resolve()
    underWay.delete(step)
  }
  return {
    show({ name: event, step, detail }) {
      if (step === 'run') return
      if (event === 'started') begin(step, titleOf(step))
      else if (event === 'undoing') begin(step, `put back: ${titleOf(step)}`)
      else if (event === 'done' || event === 'undone') end(step)
      else if (event === 'failed' || event === 'undo_failed') end(step, new Error(detail ?? 'it failed'))
    },
    async finish() {
      for (const step of [...underWay.keys()]) end(step)
      await drawn
    },
  }
}

/** For scripts that take JSON. */
export const noSteps: StepsDisplay = { show: () => undefined, finish: async () => undefined }
