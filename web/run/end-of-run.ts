import type { Plan } from '../api/plans.ts'

/** Differs for each run that has ended. Undefined while a run is in progress. */
export const endOfRun = ({ state, runs }: Pick<Plan, 'state' | 'runs'>, isRunning: boolean): string | undefined =>
  isRunning ? undefined : `${state} ${runs?.at(-1)?.finishedAt ?? ''}`
