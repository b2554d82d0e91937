import type { StoreSession } from '../store/contract.ts'

/** Who of our own holds a name: a live exposure, or a run that is under way for it. A mere plan holds nothing. */
export async function nameHolder(
  store: Pick<StoreSession, 'findExposure' | 'findLease'>,
  host: string,
  now: number,
): Promise<{ by: 'exposure' | 'run' } | undefined> {
  const [exposure, lease] = await Promise.all([store.findExposure(host), store.findLease(leaseOf(host), now)])
  if (lease) return { by: 'run' }
  return exposure ? { by: 'exposure' } : undefined
}

/** The lease that a run takes on its host. */
const leaseOf = (host: string): string => `host ${host}`
