import type { Plan } from '../../model/exposure.ts'
import type { Step } from '../step.ts'

/** Looks again: what the plan saw must still be so. A failing check keeps its own code. */
export function checkStep(plan: Plan, recheck: (plan: Plan) => Promise<unknown>): Step {
  return {
    name: 'check',
    before: async () => null,
    do: () => recheck(plan),
    undo: async () => undefined,
  }
}
