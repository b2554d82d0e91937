import { hostLease } from '../model/run.ts'
import type { StoreSession } from '../store/contract.ts'

/** Who of our own holds a name: a live exposure, or a run that is under way for it. A mere plan holds nothing, nor does `ownPlan` against itself. */
export async function nameHolder(
  store: Pick<StoreSession, 'findExposure' | 'findLease'>,
  host: string,
  now: number,
  ownPlan?: string,
): Promise<{ by: 'exposure' | 'run' } | undefined> {
  const [exposure, lease] = await Promise.all([store.findExposure(host), store.findLease(hostLease(host), now)])
  if (exposure && exposure.planId === ownPlan) return undefined
  if (lease) return { by: 'run' }
  return exposure ? { by: 'exposure' } : undefined
}
