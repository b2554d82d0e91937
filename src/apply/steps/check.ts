import type { Step } from '../step.ts'

/** Looks again: what the plan saw must still be so. A failing check keeps its own code. */
export function checkStep(recheck: () => Promise<unknown>): Step {
  return {
    name: 'check',
    before: async () => null,
    do: recheck,
    undo: async () => undefined,
  }
}
