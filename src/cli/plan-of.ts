import type { DrawbridgeClient } from '../client/client.ts'
import { planIdOf as findPlanId, NoPlan } from '../client/plan-of.ts'
import { UsageError } from '../terminal/declare.ts'
import { namedHost } from './exposure-options.ts'

/** Returns a plan id unchanged; for a host, returns the plan that exposed it. */
export const planIdOf = async (api: DrawbridgeClient, planOrHost: string): Promise<string> =>
  findPlanId(api, await namedHost(api, planOrHost)).catch((fault: unknown) => {
    if (!(fault instanceof NoPlan)) throw fault
    throw new UsageError(
      fault.managed
        ? `${fault.message} Run the command in the internal network.`
        : `${fault.message} Drawbridge does not change it. Edit its configuration on the edge.`,
    )
  })
