import { isGoodStatus } from '../model/badge.ts'
import type { Evidence } from '../model/evidence.ts'

/** What a visitor meets: a cause is named for its symptom first. */
export type Symptom = 'edge_closed' | 'not_served' | 'silent' | 'bad_status' | 'well' | 'unknown'

export function symptomOf({ edge, visit, managed }: Pick<Evidence, 'edge' | 'visit' | 'managed'>): Symptom {
  if (edge !== 'open' && edge !== 'unknown') return 'edge_closed'
  if (visit.kind === 'unknown') return 'unknown'
  if (visit.kind === 'answer') return isGoodStatus(visit.httpStatus, managed) ? 'well' : 'bad_status'
  if (visit.reason === 'unknown_host' || visit.reason === 'handshake_refused') return 'not_served'
  return visit.reason === 'refused' || visit.reason === 'unreachable' ? 'edge_closed' : 'silent'
}
