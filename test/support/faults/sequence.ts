/** `former`: the plan that is applied at first. `next`: the plan that replaces it. */
export type Holder = 'former' | 'next'

/** What was asked for at the same time, and what was answered. Times are in milliseconds since 1970. */
export interface Deed {
  readonly action: 'extend' | 'renew' | 'update' | 'remove' | 'expire'
  /** The plan that it is for. */
  readonly of: Holder
  /** `ok` or the code of the refusal. */
  readonly answer: string
  readonly sentAt: number
  readonly answeredAt: number
  /** Of extend and update: the end of the exposure that was answered or, after a refusal, asked for. Null: no end. */
  readonly end?: number | null
}

/** Who holds the host, and until when. */
export interface Standing {
  readonly holder: Holder | undefined
  readonly end: number | null
}

/**
 * An order of the deeds in which each answer is true when its turn comes, and which leads from one standing to the other. A
 * deed that was answered before another one was sent comes first. Undefined if there is none: some answer was not true.
 */
export function trueOrder(deeds: readonly Deed[], before: Standing, after: Standing): readonly Deed[] | undefined {
  const isBusy = (deed: Deed) => deeds.some((other) => other !== deed && overlap(other, deed))
  const order = (left: readonly Deed[], standing: Standing): readonly Deed[] | undefined => {
    if (left.length === 0) return isSame(standing, after) ? [] : undefined
    for (const deed of left) {
      const rest = left.filter((other) => other !== deed)
      if (rest.some(({ answeredAt }) => answeredAt < deed.sentAt)) continue
      const next = deed.answer === 'plan_busy' ? isBusy(deed) && standing : standingAfter(deed, standing)
      const others = next && order(rest, next)
      if (others) return [deed, ...others]
    }
    return undefined
  }
  return order(deeds, before)
}

const overlap = (one: Deed, other: Deed): boolean => one.sentAt <= other.answeredAt && other.sentAt <= one.answeredAt

const isSame = (left: Standing, right: Standing): boolean => left.holder === right.holder && left.end === right.end

/** What stands after a deed whose answer is true here. Undefined if its answer is not true. */
function standingAfter(deed: Deed, standing: Standing): Standing | undefined {
  const holds = standing.holder === deed.of
  const wanted = deed.end ?? null
  switch (`${deed.action} ${deed.answer}`) {
    case 'extend ok':
      return holds && endsLater(wanted, standing) ? { ...standing, end: wanted } : undefined
    case 'extend lease_not_longer':
      return holds && !endsLater(wanted, standing) ? standing : undefined
    case 'update ok':
      return standing.holder === 'former' && (wanted === null || endsLater(wanted, standing))
        ? { holder: 'next', end: wanted }
        : undefined
    case 'update plan_stale':
      return standing.holder !== 'former' || (wanted !== null && !endsLater(wanted, standing)) ? standing : undefined
    case 'renew ok':
      return holds ? standing : undefined
    case 'remove ok':
      return holds ? NOTHING : undefined
    case 'expire ok':
      return holds && standing.end !== null && standing.end <= deed.answeredAt ? NOTHING : undefined
    case 'extend plan_not_applied':
    case 'renew plan_not_applied':
    case 'remove plan_not_applied':
      return holds ? undefined : standing
  }
  return undefined
}

const NOTHING: Standing = { holder: undefined, end: null }

const endsLater = (end: number | null, standing: Standing): boolean =>
  end !== null && standing.end !== null && standing.end <= end
