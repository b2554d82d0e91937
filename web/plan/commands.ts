import { rightToApply } from '../../src/client/run.ts'
import type { Plan, RequestedAction } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'

/** The next action for a plan in this state. */
export const nextAction = ({ state }: Pick<Plan, 'state'>): RequestedAction =>
  state === 'applied' ? 'remove' : 'apply'

/**
 * For a shell inside. The right to act is fetched and kept in a variable by the commands themselves: no credential stands
 * in them, so they may be sent to anybody.
 */
export function curlCommands(
  plan: Pick<Plan, 'planId' | 'request'>,
  action: RequestedAction,
  origin: string,
  { capability }: Policy,
): string {
  const [json, body] = [`-H 'content-type: application/json'`, `'{"planId":"${plan.planId}"}'`]
  const right = action === 'apply' ? rightToApply(plan) : action
  const asked = right === 'apply' ? body : `'{"planId":"${plan.planId}","action":"${right}"}'`
  return [
    `RIGHT=$(curl -sS ${origin}/api/internal/token ${json} -d ${asked} | sed -n 's/.*"capability":"\\([^"]*\\)".*/\\1/p')`,
    `curl -sS ${origin}/api/deploy/${action} ${json} -H "${capability.header}: $RIGHT" -d ${body}`,
  ].join('\n')
}

export const cliCommand = (planId: string, action: RequestedAction, origin: string): string =>
  `drawbridge ${action} ${planId} --url ${origin}`
