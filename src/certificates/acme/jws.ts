import { createHash, createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { IssueFault } from '../contract.ts'

/** A signed request body: flattened JSON serialization (RFC 7515 section 7.2.2). */
export interface Jws {
  readonly protected: string
  readonly payload: string
  readonly signature: string
}

export type Algorithm = 'RS256' | 'ES256' | 'ES384' | 'ES512'

/** Signs with the private key of an account. */
export interface Signer {
  /** The public key as a JSON Web Key, its members in alphabetical order. */
  readonly jwk: Readonly<Record<string, unknown>>
  /** RFC 7638: SHA-256 of the JSON Web Key in base64url. */
  readonly thumbprint: string
  /** Without a payload the result is a POST-as-GET (RFC 8555 section 6.3). */
  sign(header: object, payload?: object): Jws
}

/** The signature algorithm for a key, and its hash. Throws IssueFault for a key type that certificate authorities do not accept. */
export function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): [Algorithm, hash: string] {
  if (asymmetricKeyType === 'rsa') return ['RS256', 'sha256']
  if (asymmetricKeyDetails?.namedCurve === 'prime256v1') return ['ES256', 'sha256']
  if (asymmetricKeyDetails?.namedCurve === 'secp384r1') return ['ES384', 'sha384']
  if (asymmetricKeyDetails?.namedCurve === 'secp521r1') return ['ES512', 'sha512']
  const sentence = `A private key of type ${asymmetricKeyType} cannot be used for ACME: use RSA, or ECDSA with P-256, P-384 or P-521.`
  throw new IssueFault('local', sentence)
}

/** `keyPem`: an RSA or ECDSA private key. */
export function accountSigner(keyPem: string): Signer {
  const key = createPrivateKey(keyPem)
  const [alg, hash] = algorithmOf(key)
  // Node exports only the members that RFC 7638 hashes. Their order is part of the hash.
  const jwk = Object.fromEntries(Object.entries(createPublicKey(key).export({ format: 'jwk' })).sort())
  return {
    jwk,
    thumbprint: createHash('sha256').update(JSON.stringify(jwk)).digest('base64url'),
    sign: (header, payload) =>
      flattened({ alg, ...header }, payload, (input) => sign(hash, input, { key, dsaEncoding: 'ieee-p1363' })),
  }
}

/** `hmacKey` is in base64url. */
export const signWithHmac = (hmacKey: string, header: object, payload: object): Jws =>
  flattened({ alg: 'HS256', ...header }, payload, (input) =>
    createHmac('sha256', Buffer.from(hmacKey, 'base64url')).update(input).digest(),
  )

function flattened(header: object, payload: object | undefined, signed: (input: Buffer) => Buffer): Jws {
  const parts = { protected: encode(header), payload: payload === undefined ? '' : encode(payload) }
  const signature = signed(Buffer.from(`${parts.protected}.${parts.payload}`)).toString('base64url')
  return { ...parts, signature }
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
