import { isGoodStatus } from '../model/badge.ts'
import type { Evidence } from '../model/evidence.ts'
import { factsAfter } from './facts.ts'

/** What a visitor meets: a cause is named for its symptom first. */
export type Symptom = 'edge_closed' | 'not_served' | 'silent' | 'bad_status' | 'well' | 'unknown'

export function symptomOf(evidence: Evidence): Symptom {
  const { edge, managed } = evidence
  if (edge !== 'open' && edge !== 'unknown') return 'edge_closed'
  const { answer } = factsAfter(evidence)
  if (!answer) return 'unknown'
  if (answer.httpStatus !== null) return isGoodStatus(answer.httpStatus, managed) ? 'well' : 'bad_status'
  if (answer.reason === 'unknown_host' || answer.reason === 'handshake_refused') return 'not_served'
  return answer.reason === 'refused' || answer.reason === 'unreachable' ? 'edge_closed' : 'silent'
}
