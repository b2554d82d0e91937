import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { Pair } from '../src/edge/contract/change.ts'
import { der, objectId } from '../src/primitives/der.ts'

/** DER tags. */
const [INTEGER, BIT_STRING, OCTET_STRING, UTF8_STRING, UTC_TIME] = [0x02, 0x03, 0x04, 0x0c, 0x17]
const [SEQUENCE, SET, VERSION, EXTENSIONS, DNS_NAME, BOOLEAN] = [0x30, 0x31, 0xa0, 0xa3, 0x82, 0x01]

const COMMON_NAME = '550403'
const SUBJECT_ALT_NAME = '551d11'
const BASIC_CONSTRAINTS = '551d13'
const ECDSA_WITH_SHA256 = '2a8648ce3d040302'
const DAY_MS = 86_400_000
const LIFETIME_DAYS = 90

export interface LocalAuthority {
  issue(host: string): Pair & { readonly fingerprint: string }
}

/** An authority in this process: thousands of certificates in seconds, where a program for each would take minutes. */
export function localAuthority(): LocalAuthority {
  const name = 'Drawbridge benchmark authority'
  const { publicKey, privateKey } = newKeys()
  const root = certificate({ subject: name, issuer: name, publicKey, signedWith: privateKey, extension: isAuthority() })
  return {
    issue(host) {
      const keys = newKeys()
      const extension = subjectAltName(host)
      const leaf = certificate({
        subject: host,
        issuer: name,
        publicKey: keys.publicKey,
        signedWith: privateKey,
        extension,
      })
      return {
        fingerprint: fingerprintOf(leaf),
        certificatePem: `${pem(leaf)}${pem(root)}`,
        keyPem: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      }
    },
  }
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

interface Content {
  readonly subject: string
  readonly issuer: string
  readonly publicKey: KeyObject
  readonly signedWith: KeyObject
  readonly extension: Buffer
}

/** RFC 5280 section 4.1. */
function certificate({ subject, issuer, publicKey, signedWith, extension }: Content): Buffer {
  const algorithm = der(SEQUENCE, objectId(ECDSA_WITH_SHA256))
  const serial = randomBytes(16)
  serial.writeUInt8((serial.readUInt8(0) & 0x7f) | 0x40, 0)
  const toSign = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, serial),
    algorithm,
    nameOf(issuer),
    der(SEQUENCE, utcTime(Date.now() - DAY_MS), utcTime(Date.now() + LIFETIME_DAYS * DAY_MS)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, der(SEQUENCE, extension)),
  )
  return der(SEQUENCE, toSign, algorithm, der(BIT_STRING, Buffer.from([0]), sign('sha256', toSign, signedWith)))
}

const nameOf = (text: string): Buffer =>
  der(SEQUENCE, der(SET, der(SEQUENCE, objectId(COMMON_NAME), der(UTF8_STRING, Buffer.from(text)))))

/** `YYMMDDHHMMSSZ`. */
const utcTime = (at: number): Buffer =>
  der(UTC_TIME, Buffer.from(`${new Date(at).toISOString().replace(/\D/g, '').slice(2, 14)}Z`))

const subjectAltName = (host: string): Buffer =>
  der(SEQUENCE, objectId(SUBJECT_ALT_NAME), der(OCTET_STRING, der(SEQUENCE, der(DNS_NAME, Buffer.from(host, 'ascii')))))

const isAuthority = (): Buffer =>
  der(SEQUENCE, objectId(BASIC_CONSTRAINTS), der(OCTET_STRING, der(SEQUENCE, der(BOOLEAN, Buffer.from([0xff])))))

const pem = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${(bytes.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`

/** As X509Certificate writes it. */
const fingerprintOf = (bytes: Buffer): string =>
  (createHash('sha256').update(bytes).digest('hex').toUpperCase().match(/../g) ?? []).join(':')
