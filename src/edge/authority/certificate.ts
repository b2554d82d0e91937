import { createHash, createPublicKey, type KeyObject, randomBytes, sign, type X509Certificate } from 'node:crypto'
import { der, objectId, TAG } from '../../primitives/der.ts'

const ECDSA_WITH_SHA256 = '2a8648ce3d040302'
const COMMON_NAME = '550403'
const [BASIC_CONSTRAINTS, KEY_USAGE, EXTENDED_KEY_USAGE] = ['551d13', '551d0f', '551d25']
const [ALTERNATIVE_NAME, SUBJECT_KEY, AUTHORITY_KEY] = ['551d11', '551d0e', '551d23']
const USES = { server: '2b06010505070301', client: '2b06010505070302' }
const [VERSION, EXTENSIONS, DNS_NAME, KEY_IDENTIFIER] = [0xa0, 0xa3, 0x82, 0x80]

/**
 * Certificates are backdated by one of so many parts of their life, because clocks differ, and one that is ahead is set right. This
 * costs nothing: nobody has the key of a certificate before it is issued.
 */
const BACKDATED_PARTS = 12

/** When a certificate was issued, by the clock of its authority. */
export function issuedAt({ validFromDate, validToDate }: X509Certificate): number {
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()]
  return from + (to - from) / (BACKDATED_PARTS + 1)
}

export interface CertificateWish {
  readonly name: string
  /** P-256, in SPKI form. */
  readonly publicKey: KeyObject
  /** The use of the certificate. Undefined: it may only sign certificates. */
  readonly use: 'server' | 'client' | undefined
  readonly from: number
  readonly lifeMs: number
}

export interface Signer {
  readonly name: string
  /** P-256. */
  readonly key: KeyObject
}

/**
 * An X.509 certificate in PEM (RFC 5280). node:crypto reads certificates but does not create them. This page covers the two kinds
 * of certificates that the authority needs. Another program would have to be installed on every machine.
 */
export function issueCertificate(wish: CertificateWish, signer: Signer): string {
  const algorithm = der(TAG.sequence, objectId(ECDSA_WITH_SHA256))
  const content = der(
    TAG.sequence,
    der(VERSION, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, serialNumber()),
    algorithm,
    distinguishedName(signer.name),
    der(TAG.sequence, time(wish.from - wish.lifeMs / BACKDATED_PARTS), time(wish.from + wish.lifeMs)),
    distinguishedName(wish.name),
    wish.publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, der(TAG.sequence, ...extensions(wish, signer))),
  )
  const signature = sign('sha256', content, signer.key)
  const certificate = der(TAG.sequence, content, algorithm, der(TAG.bitString, Buffer.from([0]), signature))
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

/** Positive, without a leading zero, and of 127 random bits. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes
}

const distinguishedName = (name: string): Buffer =>
  der(TAG.sequence, der(TAG.set, der(TAG.sequence, objectId(COMMON_NAME), der(TAG.utf8, Buffer.from(name)))))

/** From 2050 on with four digits of the year. */
function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replaceAll(/[-:T]|\.\d+/g, '')
  const year = Number(digits.slice(0, 4))
  return year < 2050 ? der(TAG.utcTime, Buffer.from(digits.slice(2))) : der(TAG.generalizedTime, Buffer.from(digits))
}

function extensions({ name, publicKey, use }: CertificateWish, signer: Signer): Buffer[] {
  const isAuthority = use === undefined
  const identifiers = [
    extension(SUBJECT_KEY, der(TAG.octetString, keyIdentifier(publicKey))),
    extension(
      AUTHORITY_KEY,
      der(
        TAG.sequence,
        der(KEY_IDENTIFIER, keyIdentifier(createPublicKey(signer.key.export({ type: 'pkcs8', format: 'pem' })))),
      ),
    ),
  ]
  const constraints = der(TAG.sequence, ...(isAuthority ? [TRUE] : []))
  return [
    extension(BASIC_CONSTRAINTS, constraints, true),
    // keyCertSign for the authority, digitalSignature for the others.
    extension(
      KEY_USAGE,
      isAuthority ? der(TAG.bitString, Buffer.from([2, 0x04])) : der(TAG.bitString, Buffer.from([7, 0x80])),
      true,
    ),
    ...(isAuthority
      ? []
      : [
          extension(EXTENDED_KEY_USAGE, der(TAG.sequence, objectId(USES[use]))),
          extension(ALTERNATIVE_NAME, der(TAG.sequence, der(DNS_NAME, Buffer.from(name, 'ascii')))),
        ]),
    ...identifiers,
  ]
}

const TRUE = der(TAG.boolean, Buffer.from([0xff]))

const extension = (id: string, value: Buffer, isCritical = false): Buffer =>
  der(TAG.sequence, objectId(id), ...(isCritical ? [TRUE] : []), der(TAG.octetString, value))

const keyIdentifier = (key: KeyObject): Buffer =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20)
