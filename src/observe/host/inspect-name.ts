import type { AddressAnswer } from '../../dns/contract.ts'
import type { BadgeFacts } from '../../model/badge.ts'
import type { NameEvidence } from '../../model/evidence.ts'

/** How a zone stands to what was applied for a host. */
export interface NameStanding {
  readonly name: NameEvidence
  readonly records: BadgeFacts['dns']
}

/**
 * What the zone's own server says about a host that was made here: `answer` to where its name leads, `held` to whether it
 * serves exactly the records that were applied, the owner mark among them. A wildcard may lead the name here without them.
 */
export function judgeApplied(
  answer: AddressAnswer,
  held: 'yes' | 'no' | 'partly' | 'unknown',
  values: readonly string[],
): NameStanding {
  const name = appliedName(answer, values)
  if (held === 'no' || held === 'partly' || name.kind === 'missing' || name.kind === 'elsewhere')
    return { name, records: 'not_ours' }
  return { name, records: held === 'yes' && name.kind === 'here' ? 'ours' : null }
}

function appliedName(answer: AddressAnswer, values: readonly string[]): NameEvidence {
  if (answer.kind !== 'found') return answer
  const { own } = answer
  if (own.length === 0) return { kind: 'missing' }
  return { kind: isSame(own, values) ? 'here' : 'elsewhere', found: own }
}

/** Where a host that was not made here may lead: to one of these addresses; elsewhere is wrong only where the zone is ours. */
export interface Destination {
  readonly values: readonly string[]
  readonly isOurZone: boolean
}

/** What an answer means for a host that was not made here. */
export function judgeForeign(answer: AddressAnswer, { values, isOurZone }: Destination): NameEvidence {
  if (answer.kind !== 'found') return answer
  const { own, final } = answer
  const found = final.length > 0 ? final : own
  if (found.some((address) => values.includes(address))) return { kind: 'here', found }
  return { kind: isOurZone && final.length > 0 ? 'elsewhere' : 'not_judged', found }
}

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  new Set(left).symmetricDifference(new Set(right)).size === 0
