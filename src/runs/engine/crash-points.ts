import { EDGE_POINTS } from '../../edge/contract/change.ts'
import { STEPS_OF, type StepName } from '../../model/run.ts'

/**
 * Named points before and after each journal write and each effect of a run. The tests kill the service at each of them.
 * Outside the tests DRAWBRIDGE_CRASH_AT is not set and the points do nothing.
 */
const FORWARD = ['before-intent', 'after-intent', 'after-effect', 'after-done'] as const
const BACKWARD = ['before-undo-intent', 'after-undo-intent', 'after-undo', 'after-undone'] as const

const EDGES = ['begun', 'before-finish', 'after-finish'] as const

/** Points inside effects that have several parts. */
const INSIDE: Partial<Record<StepName, readonly string[]>> = {
  proxy: EDGE_POINTS,
  certificate: ['challenge-set'],
}

export const CRASH_POINTS: readonly string[] = [
  ...Object.entries(STEPS_OF).flatMap(([action, steps]) => [
    ...EDGES.map((moment) => `${action} run ${moment}`),
    ...steps.flatMap((step) =>
      [...FORWARD, ...BACKWARD, ...(INSIDE[step] ?? [])].map((moment) => `${action} ${step} ${moment}`),
    ),
  ]),
]

/** The points of an edge agent, which carries out changes in a process of its own. */
export const AGENT_CRASH_POINTS: readonly string[] = EDGE_POINTS.map((point) => `agent change ${point}`)

/** Called at each point with the name of the point. */
export type CrashPoint = (point: string) => void

/** Kills this process at the point `crash`, as a power loss would, or stops it at the point `stop` until it gets SIGCONT. */
export function crashAt(
  crash: string | undefined,
  stop?: string | undefined,
  points: readonly string[] = CRASH_POINTS,
): CrashPoint {
  for (const [variable, point] of Object.entries({ DRAWBRIDGE_CRASH_AT: crash, DRAWBRIDGE_STOP_AT: stop }))
    if (point !== undefined && !points.includes(point))
      throw new Error(`${variable} is not the name of a crash point: ${point}`)
  if (crash === undefined && stop === undefined) return () => undefined
  let hasStopped = false
  return (reached) => {
    if (!points.includes(reached)) throw new Error(`Crash point ${reached} is not in the table.`)
    if (reached === crash) process.kill(process.pid, 'SIGKILL')
    if (reached !== stop || hasStopped) return
    hasStopped = true
    process.kill(process.pid, 'SIGSTOP')
  }
}
