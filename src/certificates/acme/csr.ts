import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { der, objectId, TAG } from '../../primitives/der.ts'
import { type Algorithm, algorithmOf } from './jws.ts'

const [ATTRIBUTES, DNS_NAME] = [0xa0, 0x82]

const EXTENSION_REQUEST = '2a864886f70d01090e' // 1.2.840.113549.1.9.14
const SUBJECT_ALT_NAME = '551d11' // 2.5.29.17
const SIGNATURE_ALGORITHM: Readonly<Record<Algorithm, string>> = {
  RS256: '2a864886f70d01010b', // 1.2.840.113549.1.1.11, sha256WithRSAEncryption
  ES256: '2a8648ce3d040302', // 1.2.840.10045.4.3.2, ecdsa-with-SHA256
  ES384: '2a8648ce3d040303',
  ES512: '2a8648ce3d040304',
}

/**
 * A certificate signing request in DER (RFC 2986) for DNS names in ASCII. The subject is empty: authorities read the names
 * from the subjectAltName extension. Throws IssueFault for a key that is neither RSA nor ECDSA.
 */
export function certificateRequest(keyPem: string, names: readonly string[]): Buffer {
  const key = createPrivateKey(keyPem)
  const [algorithm, hash] = algorithmOf(key)
  const info = der(
    TAG.sequence,
    der(TAG.integer, Buffer.from([0])),
    der(TAG.sequence),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    der(
      ATTRIBUTES,
      der(TAG.sequence, objectId(EXTENSION_REQUEST), der(TAG.set, der(TAG.sequence, subjectAltName(names)))),
    ),
  )
  const parameters = algorithm === 'RS256' ? [der(TAG.null)] : []
  return der(
    TAG.sequence,
    info,
    der(TAG.sequence, objectId(SIGNATURE_ALGORITHM[algorithm]), ...parameters),
    der(TAG.bitString, Buffer.from([0]), sign(hash, info, key)),
  )
}

function subjectAltName(names: readonly string[]): Buffer {
  const list = der(TAG.sequence, ...names.map((name) => der(DNS_NAME, Buffer.from(name, 'ascii'))))
  return der(TAG.sequence, objectId(SUBJECT_ALT_NAME), der(TAG.octetString, list))
}
