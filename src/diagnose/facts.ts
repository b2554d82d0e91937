import { type BadgeFacts, certificateLevel, learned } from '../model/badge.ts'
import { type Evidence, fileFact } from '../model/evidence.ts'

/** What is known of a host after a look. */
export const factsAfter = (evidence: Evidence): BadgeFacts => learned(evidence.known, factsIn(evidence))

function factsIn({ managed, visit, records, tls, at, file }: Evidence): BadgeFacts {
  return {
    managed,
    answer:
      visit.kind === 'unknown'
        ? null
        : visit.kind === 'answer'
          ? { httpStatus: visit.httpStatus, reason: null, entry: visit.entry }
          : { httpStatus: null, reason: visit.reason },
    dns: records,
    certificate: tls.kind === 'certificate' ? (tls.coversHost ? certificateLevel(tls, at) : 'wrong_name') : null,
    file: fileFact(file),
  }
}
