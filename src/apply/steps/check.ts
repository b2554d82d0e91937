import type { Step } from '../step.ts'

/** Looks again: what the plan saw must still be so. A failing check keeps its own code. `ended`: nothing that was begun here goes on. */
export function checkStep(recheck: () => Promise<unknown>, ended: () => Promise<void>): Step {
  return {
    name: 'check',
    before: async () => null,
    do: recheck,
    undo: ended,
  }
}
