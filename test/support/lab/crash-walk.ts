import { CRASH_POINTS } from '../../../src/runs/engine/crash-points.ts'

/** How a point of the table is reached, and what must become of the plan after a crash there. */
export interface CrashCase {
  readonly point: string
  readonly action: 'apply' | 'remove'
  /** Lies on the way back: the run must fail first. */
  readonly backward: boolean
  readonly end: 'applied' | 'rolled_back' | 'removed'
}

/** After these the verdict is in the journal. */
const DECIDED = ['apply verify after-done', 'apply run before-finish', 'apply run after-finish']

function caseOf(point: string): CrashCase {
  const action = point.startsWith('apply ') ? 'apply' : 'remove'
  const backward = point.includes('undo') || point.includes('undone')
  if (action === 'remove') return { point, action, backward, end: backward ? 'applied' : 'removed' }
  return { point, action, backward, end: DECIDED.includes(point) ? 'applied' : 'rolled_back' }
}

/** Whether the recovery after a crash at `crashed` may itself come to `point`. */
export function isOnTheWayBack(crashed: CrashCase, point: string): boolean {
  const next = caseOf(point)
  if (next.action !== crashed.action) return false
  if (point.endsWith('-finish')) return true
  if (crashed.end === 'removed') return !next.backward
  return crashed.end === 'applied' && crashed.action === 'apply' ? false : next.backward
}

/**
 * The points in an order in which as many as possible follow each other without a start of their own between them: the
 * life that recovers from one is the one that dies at the next.
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
  if (!chosen) throw new Error('nothing is left to choose from')
  return chosen
}

/** Needs a service whose challenges are http-01. */
export const isOfHttpChallenge = (point: string): boolean => point.startsWith('apply proxy-tls ')

/** Needs a certificate to be issued. */
export const isOfIssuing = (point: string): boolean => point === 'apply certificate challenge-set'

/** Walked on their own: nobody asks for a renewal. */
export const isOfRenewal = (point: string): boolean => point.startsWith('renew ')

/** All that is left: a certificate that is there, and challenges by DNS. */
export const usualPoints = (): string[] =>
  CRASH_POINTS.filter((point) => !isOfHttpChallenge(point) && !isOfIssuing(point) && !isOfRenewal(point))

/**
 * A fifth of the points, in which every step and every moment of both actions is met: the whole table takes minutes and
 * is walked by the campaign.
 */
export function someOf(points: readonly string[]): string[] {
  const chosen = points.filter(
    (point) => !/ (?:before|after)-(?:undo-)?(?:intent|effect|done|undo|undone)$/.test(point),
  )
  const moments = Map.groupBy(
    points.filter((point) => !chosen.includes(point)),
    (point) => `${point.split(' ')[0]} ${point.split(' ')[1]}`,
  )
  // Three and eight have no divisor in common: step by step the turn comes round to every moment.
  for (const [turn, ofStep] of [...moments.values()].entries())
    chosen.push(...ofStep.slice((turn * 3) % ofStep.length).slice(0, 1))
  return chosen
}
