import type { AddressAnswer } from '../../dns/contract.ts'
import type { NameEvidence } from '../../model/evidence.ts'

/** Where a name should lead. */
export type Destination =
  /** To exactly these values, by what was applied. */
  | { readonly kind: 'applied'; readonly values: readonly string[] }
  /** To one of these addresses at least; elsewhere is wrong only where the zone is ours. */
  | { readonly kind: 'any'; readonly values: readonly string[]; readonly isOurZone: boolean }

/** What an answer means for a host that should lead there. */
export function judgeAnswer(answer: AddressAnswer, destination: Destination): NameEvidence {
  if (answer.kind !== 'found') return answer
  const { own, final } = answer
  if (destination.kind === 'applied') {
    if (own.length === 0) return { kind: 'missing' }
    return { kind: isSame(own, destination.values) ? 'here' : 'elsewhere', found: own }
  }
  const found = final.length > 0 ? final : own
  if (found.some((address) => destination.values.includes(address))) return { kind: 'here', found }
  return { kind: destination.isOurZone && final.length > 0 ? 'elsewhere' : 'not_judged', found }
}

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  new Set(left).symmetricDifference(new Set(right)).size === 0
