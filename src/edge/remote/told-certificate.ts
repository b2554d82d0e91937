import { isCertificateName } from '../../model/dns-name.ts'
import type { EdgeAnswer, Handshake } from '../contract/visit.ts'
import { plainIssuer } from '../visit/ask.ts'

/**
 * People and models see what an agent reports about a certificate: keep only names that match the grammar, and an issuer that is
 * only a name.
 */
export function toldHandshake(shown: Handshake): Handshake {
  return shown.kind === 'certificate' ? { ...shown, names: shown.names.filter(isCertificateName) } : shown
}

/** See `toldHandshake`. */
export function toldAnswer(answer: EdgeAnswer): EdgeAnswer {
  if (answer.kind !== 'answer' || !answer.certificate) return answer
  const { issuer, names } = answer.certificate
  return {
    ...answer,
    certificate: {
      ...answer.certificate,
      names: names.filter(isCertificateName),
      ...(issuer !== undefined && { issuer: plainIssuer(issuer) }),
    },
  }
}
