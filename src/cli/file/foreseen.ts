import type { Policy } from '../../client/bodies.ts'
import { Refusal } from '../../client/refusal.ts'
import type { Clock } from '../../primitives/clock.ts'
import { UsageError } from '../../terminal/declare.ts'
import { EXIT, exitCodeOf } from '../exit-codes.ts'
import { nextCommand } from '../next-action.ts'
import type { Act } from './exposures.ts'

/** Why an act cannot be done now. */
interface Reason {
  readonly code: string
  readonly detail: string
  readonly nextAction: string | null
  readonly exitCode: number
}

export interface Refused extends Reason, Pick<Act, 'verb' | 'host'> {}

const AT_ONCE = 8

/** Asks the service for the plans of all acts, which change nothing, and returns those that it refuses, in the order of the acts. */
export async function foreseen(
  acts: readonly Act[],
  { apply }: Pick<Policy, 'apply'>,
  clock: Clock,
): Promise<readonly Refused[]> {
  const reasons: (Reason | undefined)[] = []
  for (let at = 0; at < acts.length; at += AT_ONCE)
    reasons.push(...(await Promise.all(acts.slice(at, at + AT_ONCE).map((act) => reasonAgainst(act, clock)))))
  return acts.flatMap(({ verb, host }, at) => {
    const reason = reasons[at] ?? (apply.possible ? undefined : impossible(apply.reasons))
    return reason ? [{ verb, host, ...reason }] : []
  })
}

async function reasonAgainst(act: Act, clock: Clock): Promise<Reason | undefined> {
  for (;;) {
    try {
      await act.prepare()
      return undefined
    } catch (error) {
      if (error instanceof Refusal && error.code === 'rate_limited') await clock.sleep((error.retryAfter ?? 1) * 1000)
      else return reasonOf(error, act.host)
    }
  }
}

function reasonOf(error: unknown, host: string): Reason {
  if (error instanceof Refusal) {
    const { code, message: detail, problem } = error
    return { code, detail, nextAction: nextCommand(problem, { host }), exitCode: exitCodeOf(error) }
  }
  if (!(error instanceof UsageError)) throw error
  return { code: 'usage', detail: error.message, nextAction: null, exitCode: EXIT.usage }
}

const impossible = (reasons: readonly string[]): Reason => ({
  code: 'unavailable',
  detail: `The service cannot apply plans now. ${reasons.join(' ')}`,
  nextAction: 'Run drawbridge doctor on the machine of the service.',
  exitCode: EXIT.notNow,
})
