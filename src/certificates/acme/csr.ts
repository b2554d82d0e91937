import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { type Algorithm, algorithmOf } from './jws.ts'

/** DER tags. */
const [INTEGER, BIT_STRING, OCTET_STRING, NULL, OBJECT_ID] = [0x02, 0x03, 0x04, 0x05, 0x06]
const [SEQUENCE, SET, ATTRIBUTES, DNS_NAME] = [0x30, 0x31, 0xa0, 0x82]

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
    SEQUENCE,
    der(INTEGER, Buffer.from([0])),
    der(SEQUENCE),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    der(ATTRIBUTES, der(SEQUENCE, objectId(EXTENSION_REQUEST), der(SET, der(SEQUENCE, subjectAltName(names))))),
  )
  const parameters = algorithm === 'RS256' ? [der(NULL)] : []
  return der(
    SEQUENCE,
    info,
    der(SEQUENCE, objectId(SIGNATURE_ALGORITHM[algorithm]), ...parameters),
    der(BIT_STRING, Buffer.from([0]), sign(hash, info, key)),
  )
}

function subjectAltName(names: readonly string[]): Buffer {
  const list = der(SEQUENCE, ...names.map((name) => der(DNS_NAME, Buffer.from(name, 'ascii'))))
  return der(SEQUENCE, objectId(SUBJECT_ALT_NAME), der(OCTET_STRING, list))
}

export const objectId = (hex: string): Buffer => der(OBJECT_ID, Buffer.from(hex, 'hex'))

export function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag, ...lengthOctets(content.length)]), content])
}

/** Up to 127 in one octet; above, the number of octets that follow, then the length, most significant octet first. */
function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length]
  const octets: number[] = []
  for (let rest = length; rest > 0; rest >>= 8) octets.unshift(rest & 0xff)
  return [0x80 | octets.length, ...octets]
}
