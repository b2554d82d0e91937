import type { DrawbridgeClient } from './client.ts'
import { suggesting } from './did-you-mean.ts'
import { Refusal } from './refusal.ts'

/** The host has no plan that this caller can act on. */
export class NoPlan extends Error {
  readonly host: string
  /** True: the host has a plan, which only internal callers see. False: Drawbridge did not expose the host. */
  readonly managed: boolean

  constructor(host: string, managed: boolean) {
    super(managed ? `Only internal callers see the plan of ${host}.` : `${host} was not exposed by Drawbridge.`)
    this.host = host
    this.managed = managed
  }
}

/** Returns a plan id unchanged; for a host, returns the plan that exposed it. Rejects with NoPlan if there is none. */
export async function planIdOf(api: DrawbridgeClient, planOrHost: string): Promise<string> {
  if (planOrHost.startsWith('plan_')) return planOrHost
  try {
    const { planId, managed, host } = await api.health(planOrHost)
    if (planId !== undefined) return planId
    throw new NoPlan(host, managed)
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'host_not_found') throw error
    const planId = await newestApplied(api, planOrHost)
    if (planId === undefined) return suggesting(api, planOrHost, Promise.reject(error))
    return planId
  }
}

/** The monitor does not know a host that was exposed a moment ago, but its plan is already stored. */
async function newestApplied(api: DrawbridgeClient, host: string): Promise<string | undefined> {
  const { plans } = await api.listPlans({ limit: '200' }).catch(() => ({ plans: [] }))
  return plans.find((plan) => plan.state === 'applied' && plan.host === host.toLowerCase())?.planId
}
