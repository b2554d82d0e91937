import { STEPS_OF } from '../../model/run.ts'

/**
 * Named points before and after each journal write and each effect of a run. The tests kill the service at each of them.
 * Outside the tests DRAWBRIDGE_CRASH_AT is not set and the points do nothing.
 */
const FORWARD = ['before-intent', 'after-intent', 'after-effect', 'after-done'] as const
const BACKWARD = ['before-undo-intent', 'after-undo-intent', 'after-undo', 'after-undone'] as const

const EDGES = ['begun', 'before-finish', 'after-finish'] as const

/** Points inside effects that have several parts. */
const INSIDE = [
  'apply proxy swapped',
  'update proxy swapped',
  'remove proxy swapped',
  'apply certificate challenge-set',
  'update certificate challenge-set',
] as const

/** A renewal has no journal: receipts and orders show how far it came. */
export const RENEWAL_POINTS = [
  'renew run begun',
  'renew certificate challenge-set',
  'renew certificate issued',
  'renew proxy before-intent',
  'renew proxy after-intent',
  'renew proxy swapped',
  'renew proxy reloaded',
  'renew verify after-effect',
  'renew run before-finish',
  'renew run after-finish',
  'renew secondary swapped',
  'renew proxy before-undo',
  'renew proxy after-undo',
] as const

export const CRASH_POINTS: readonly string[] = [
  ...Object.entries(STEPS_OF).flatMap(([action, steps]) => [
    ...EDGES.map((moment) => `${action} run ${moment}`),
    ...steps.flatMap((step) => [...FORWARD, ...BACKWARD].map((moment) => `${action} ${step} ${moment}`)),
  ]),
  ...INSIDE,
  ...RENEWAL_POINTS,
]

/** Called at each point with the name of the point. */
export type CrashPoint = (point: string) => void

/** Kills this process at the named point, as a power loss would. */
export function crashAt(point: string | undefined): CrashPoint {
  if (point === undefined) return () => undefined
  if (!CRASH_POINTS.includes(point)) throw new Error(`DRAWBRIDGE_CRASH_AT is not the name of a crash point: ${point}`)
  return (reached) => {
    if (!CRASH_POINTS.includes(reached)) throw new Error(`Crash point ${reached} is not in the table.`)
    if (reached === point) process.kill(process.pid, 'SIGKILL')
  }
}
