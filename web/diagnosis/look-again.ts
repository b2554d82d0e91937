/** What the panel knows when it is drawn. */
interface Panel {
  /** The badge that the list shows now. */
  readonly live: string | undefined
  /** The badge of the diagnosis that is shown. */
  readonly diagnosed: string | undefined
  readonly isLooking: boolean
}

export interface Watched {
  readonly live: string | undefined
  /** The badge changed since the newest diagnosis began. */
  readonly hasTurned: boolean
}

/** The panel opens. Its first diagnosis may have begun before the badge that the list shows already. */
export const opened = (live: string | undefined): Watched => ({ live, hasTurned: true })

/**
 * A badge that changes while its diagnosis is open can make the diagnosis outdated. While a diagnosis runs, its result is not
 * known, so the badges are compared when it ends. Each change causes at most one more diagnosis: two badges that stay
 * different must not use up the rate limit.
 */
export function watchBadge(
  before: Watched,
  { live, diagnosed, isLooking }: Panel,
): { readonly watched: Watched; readonly isOutdated: boolean } {
  const hasTurned = before.hasTurned || (before.live !== undefined && before.live !== live)
  if (isLooking || !hasTurned || live === undefined || diagnosed === undefined)
    return { watched: { live, hasTurned }, isOutdated: false }
  return { watched: { live, hasTurned: false }, isOutdated: live !== diagnosed }
}
