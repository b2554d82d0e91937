import type { DrawbridgeClient } from '../client/client.ts'
import { isSameOwner, otherOwnerOf } from '../client/owner-of.ts'
import { planIdOf } from '../client/plan-of.ts'
import type * as take from './arguments.ts'
import { Unconfirmed, UnknownPlan } from './failure.ts'

/** The plan of an exposure. The schemas of the arguments require one of both. */
export async function planOf(client: DrawbridgeClient, { planId, host = '' }: take.Exposed): Promise<string> {
  if (planId === undefined) return planIdOf(client, host)
  // Other text could be no part of an address of the API.
  if (!/^[0-9A-Za-z_-]+$/.test(planId)) throw new UnknownPlan()
  return planId
}

/** The same for a tool that changes the exposure: it must be the caller's own, or nobody's, or confirmed. */
export async function ownPlanOf(
  client: DrawbridgeClient,
  { confirmOwner, ...exposed }: take.Exposed & { readonly confirmOwner?: string | undefined },
  me: string | undefined,
): Promise<string> {
  const planId = await planOf(client, exposed)
  await assertOwn(client, planId, 'other', { me, confirmOwner })
  return planId
}

export async function assertOwn(
  client: DrawbridgeClient,
  planId: string,
  act: 'apply' | 'other',
  { me, confirmOwner }: { readonly me: string | undefined; readonly confirmOwner: string | undefined },
): Promise<void> {
  const other = await otherOwnerOf(client, planId, act, me)
  if (other && !(confirmOwner !== undefined && isSameOwner(confirmOwner, other.owner))) throw new Unconfirmed(other)
}
