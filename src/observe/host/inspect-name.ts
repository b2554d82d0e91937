import type { AddressAnswer } from '../../dns/contract.ts'
import type { BadgeFacts } from '../../model/badge.ts'
import type { NameEvidence } from '../../model/evidence.ts'

/** `records`: whether the zone has the applied records of a host; null when that is not known. */
export interface NameStanding {
  readonly name: NameEvidence
  readonly records: BadgeFacts['dns']
}

/**
 * Judges a managed host by the zone's primary. `answer`: the addresses of the name. `held`: whether the server serves exactly
 * the applied records, the owner mark included. A wildcard may give the name the right address without these records.
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

/** The expected addresses of an unmanaged host. Another address is an error only in a zone that Drawbridge manages. */
export interface Destination {
  readonly values: readonly string[]
  readonly isOurZone: boolean
}

/** Judges a host that Drawbridge does not manage. */
export function judgeForeign(answer: AddressAnswer, { values, isOurZone }: Destination): NameEvidence {
  if (answer.kind !== 'found') return answer
  const { own, final } = answer
  const found = final.length > 0 ? final : own
  if (found.some((address) => values.includes(address))) return { kind: 'here', found }
  return { kind: isOurZone && final.length > 0 ? 'elsewhere' : 'not_judged', found }
}

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  new Set(left).symmetricDifference(new Set(right)).size === 0
