import { RUN_ACTIONS, type RunAction } from '../../../src/model/run.ts'
import { CRASH_POINTS } from '../../../src/runs/engine/crash-points.ts'

/** How a run gets to a crash point, and the expected state of its plan after a crash there. */
export interface CrashCase {
  readonly point: string
  readonly action: RunAction
  /** The point is on the way back, so the run must fail first. */
  readonly backward: boolean
  readonly end: 'applied' | 'rolled_back' | 'removed'
}

/** After these points of an apply or an update the verdict is in the journal. */
const DECIDED = ['verify after-done', 'run before-finish', 'run after-finish']

function caseOf(point: string): CrashCase {
  const action = RUN_ACTIONS.find((candidate) => point.startsWith(`${candidate} `))
  if (!action) throw new Error(`No walk covers the point ${point}.`)
  const backward = point.includes('undo') || point.includes('undone')
  if (action === 'remove') return { point, action, backward, end: backward ? 'applied' : 'removed' }
  const isDecided = DECIDED.some((moment) => point === `${action} ${moment}`)
  return { point, action, backward, end: isDecided ? 'applied' : 'rolled_back' }
}

/** Whether the recovery after a crash at `crashed` can pass `point`. */
export function isOnTheWayBack(crashed: CrashCase, point: string): boolean {
  const next = caseOf(point)
  if (next.action !== crashed.action) return false
  if (point.endsWith('-finish')) return true
  if (crashed.end === 'removed') return !next.backward
  return crashed.end === 'applied' && crashed.action !== 'remove' ? false : next.backward
}

/**
 * The points in an order that needs few extra starts of the service: the process that recovers from one crash dies at the next
 * point.
 */
export function walk(points: readonly string[]): CrashCase[] {
  const left = points.map(caseOf)
  const order: CrashCase[] = []
  while (left.length > 0) {
    const last = order.at(-1)
    const next = left.filter(({ point }) => !last || !isOnTheWayBack(last, point))
    const chosen = mostLeft(next.length > 0 ? next : left)
    left.splice(left.indexOf(chosen), 1)
    order.push(chosen)
  }
  return order
}

function mostLeft(cases: readonly CrashCase[]): CrashCase {
  const kinds = [...Map.groupBy(cases, ({ action, backward }) => `${action} ${backward}`).values()]
  const [chosen] = kinds.toSorted((a, b) => b.length - a.length)[0] ?? []
  if (!chosen) throw new Error('No point is left to choose from.')
  return chosen
}

/** Points that need an order with http-01 challenges. */
export const isOfHttpChallenge = (point: string): boolean => point.startsWith('apply proxy-tls ')

/** Points that need a new certificate. Another test covers them. */
export const isOfIssuing = (point: string): boolean =>
  point === 'apply certificate challenge-set' || point === 'update certificate challenge-set'

/** Points of renewals, repairs and accepts. Other tests cover them. */
export const isOfRenewal = (point: string): boolean => /^(?:renew|repair|accept|converge) /.test(point)

/** All other points: with an existing certificate and dns-01 challenges. */
export const usualPoints = (): string[] =>
  CRASH_POINTS.filter((point) => !isOfHttpChallenge(point) && !isOfIssuing(point) && !isOfRenewal(point))

/**
 * The fewest points that cover every step, and every action both ways and with each end. All points take minutes; the campaign walks them. Every moment of
 * a run is walked in process by test/world/protocol, and every moment inside a change of an edge by test/integration/edge/edge-crash.
 */
export function someOf(points: readonly string[]): string[] {
  const chosen: string[] = []
  const left = new Set(points.flatMap(partsOf))
  const gainOf = (point: string) => partsOf(point).filter((part) => left.has(part)).length
  const isUsed = (point: string) => chosen.filter((one) => one.split(' ')[0] === point.split(' ')[0]).length
  while (left.size > 0) {
    const [best = ''] = points.toSorted((a, b) => gainOf(b) - gainOf(a) || isUsed(a) - isUsed(b))
    chosen.push(best)
    for (const part of partsOf(best)) left.delete(part)
  }
  return chosen
}

/** What a point stands for. */
export function partsOf(point: string): string[] {
  const { action, backward, end } = caseOf(point)
  return [`${action} ${backward ? 'back' : 'forth'}, ${end}`, `step ${point.split(' ')[1]}`]
}
