import type { DrawbridgeClient } from '../client/client.ts'
import { Refusal } from '../client/refusal.ts'
import { UsageError } from '../terminal/declare.ts'

/** Returns a plan id unchanged; for a host, returns the plan that exposed it. */
export async function planIdOf(api: DrawbridgeClient, planOrHost: string): Promise<string> {
  if (planOrHost.startsWith('plan_')) return planOrHost
  try {
    const { planId, managed, host } = await api.health(planOrHost)
    if (planId !== undefined) return planId
    throw new UsageError(
      managed
        ? `Only callers in the internal network can read the plan of ${host}. Run the command there.`
        : `${host} was not exposed by Drawbridge, so Drawbridge does not change it. Edit its configuration on the edge.`,
    )
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'host_not_found') throw error
    const planId = await newestApplied(api, planOrHost)
    if (planId === undefined) throw error
    return planId
  }
}

/** The monitor does not know a host that was exposed a moment ago, but its plan is already stored. */
async function newestApplied(api: DrawbridgeClient, host: string): Promise<string | undefined> {
  const { plans } = await api.listPlans({ limit: '200' }).catch(() => ({ plans: [] }))
  return plans.find((plan) => plan.state === 'applied' && plan.host === host.toLowerCase())?.planId
}
