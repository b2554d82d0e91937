/** So many at once; each comes back after its share of the period. A token bucket, as Let's Encrypt counts. */
export interface Limit {
  readonly count: number
  readonly perSeconds: number
}

export interface Bucket {
  /** How many may be had at once now. */
  readonly left: number
  /** Until one may. */
  readonly waitMs: number
}

/**
 * What is left after what was spent at these times, two periods back. What was spent before that is not known, so the
 * bucket is taken for empty then: it is never fuller here than it is at the authority.
 */
export function bucketOf({ count, perSeconds }: Limit, spentAt: readonly number[], now: number): Bucket {
  const period = perSeconds * 1000
  const share = period / count
  let fullAgainAt = now - period
  for (const at of spentAt.map((time) => Math.min(time, now)).sort((a, b) => a - b)) {
    fullAgainAt = Math.min(Math.max(fullAgainAt, at) + share, at + period)
  }
  const missing = Math.max(0, fullAgainAt - now) / share
  return {
    left: Math.max(0, Math.floor(count - missing + 1e-9)),
    waitMs: Math.max(0, Math.ceil(fullAgainAt + share - period - now)),
  }
}
