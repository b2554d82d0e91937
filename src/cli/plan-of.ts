import type { DrawbridgeClient } from '../client/client.ts'
import { Refusal } from '../client/refusal.ts'
import { UsageError } from '../terminal/declare.ts'

/** The plan that is meant: by its id, or by the host that it put on the air. */
export async function planIdOf(api: DrawbridgeClient, planOrHost: string): Promise<string> {
  if (planOrHost.startsWith('plan_')) return planOrHost
  try {
    const { planId, managed, host } = await api.health(planOrHost)
    if (planId !== undefined) return planId
    throw new UsageError(
      managed
        ? `the plan of ${host} is told inside only: call from the internal network`
        : `${host} was not put on the air by Drawbridge, which therefore does not take it off`,
    )
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'host_not_found') throw error
    const fresh = await newestApplied(api, planOrHost)
    if (fresh === undefined) throw error
    return fresh
  }
}

/** What went on the air a moment ago has not been watched yet, but its plan is known. */
async function newestApplied(api: DrawbridgeClient, host: string): Promise<string | undefined> {
  const { plans } = await api.listPlans({ limit: '200' }).catch(() => ({ plans: [] }))
  return plans.find((plan) => plan.state === 'applied' && plan.host === host.toLowerCase())?.planId
}
