import { isCertificateName } from '../../model/dns-name.ts'
import type { EdgeAnswer, Handshake } from '../contract.ts'
import { plainIssuer } from '../visit/ask.ts'

/** What an agent tells of a certificate reaches people and models: names only by grammar, and no issuer that is more than a name. */
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
