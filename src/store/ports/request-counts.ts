export interface RequestCount {
  readonly requests: number
  /** When the count begins anew. */
  readonly windowEnd: number
}

/** How long requests are counted together. */
export const COUNT_WINDOW_MS = 60_000

/** Requests of all instances, for rate limits. Lost counts do no harm. */
export interface RequestCountStore {
  /** Adds requests to counters and resolves with their new counts, by name. A counter whose window is
   * over begins a new one, also one whose window ends later than a new one would: a clock was set back. */
  countRequests(
    added: ReadonlyMap<string, number>,
    now: number,
    windowMs: number,
  ): Promise<ReadonlyMap<string, RequestCount>>
}
