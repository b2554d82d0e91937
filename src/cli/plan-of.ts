import type { DrawbridgeClient } from '../client/client.ts'
import { UsageError } from './usage.ts'

/** The plan that is meant: by its id, or by the host that it put on the air. */
export async function planIdOf(api: DrawbridgeClient, planOrHost: string): Promise<string> {
  if (planOrHost.startsWith('plan_')) return planOrHost
  const { planId, managed, host } = await api.health(planOrHost)
  if (planId !== undefined) return planId
  throw new UsageError(
    managed
      ? `the plan of ${host} is told inside only: call from the internal network`
      : `${host} was not put on the air by Drawbridge, which therefore does not take it off`,
  )
}
