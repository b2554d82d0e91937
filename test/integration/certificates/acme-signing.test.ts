import { execFileSync, spawnSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, webcrypto } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { certificateRequest } from '../../../src/certificates/acme/csr.ts'
import { accountSigner, type Jws, signWithHmac } from '../../../src/certificates/acme/jws.ts'

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey
const KEYS: readonly [
  string,
  KeyObject,
  webcrypto.RsaHashedImportParams | (webcrypto.EcKeyImportParams & webcrypto.EcdsaParams),
][] = [
  [
    'RS256',
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  ],
  ['ES256', ec('P-256'), { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }],
  ['ES384', ec('P-384'), { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' }],
  ['ES512', ec('P-521'), { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' }],
]

const decoded = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString())
const inputOf = (jws: Jws): Buffer => Buffer.from(`${jws.protected}.${jws.payload}`)
const ED25519 = generateKeyPairSync('ed25519').privateKey

describe('a signed request', () => {
  test.each(KEYS)('%s is verified by WebCrypto with the key that it shows', async (alg, key, algorithm) => {
    const { jwk, sign } = accountSigner(pemOf(key))
    const jws = sign({ jwk, url: 'https://ca.test/new' }, { contact: [] })
    expect(decoded(jws.protected)).toEqual({ alg, jwk, url: 'https://ca.test/new' })
    expect(decoded(jws.payload)).toEqual({ contact: [] })
    expect(Object.keys(jwk)).toEqual(alg === 'RS256' ? ['e', 'kty', 'n'] : ['crv', 'kty', 'x', 'y'])
    const publicKey = await webcrypto.subtle.importKey('jwk', jwk, algorithm, false, ['verify'])
    const signature = Buffer.from(jws.signature, 'base64url')
    expect(await webcrypto.subtle.verify(algorithm, publicKey, signature, inputOf(jws))).toBe(true)
  })

  test('has an empty payload where it only reads', () => {
    expect(accountSigner(pemOf(ec('P-256'))).sign({}).payload).toBe('')
  })

  test('has the thumbprint of RFC 7638 section 3.1, where the order of the members counts', () => {
    const key = ec('P-256')
    const { crv, kty, x, y } = createPublicKey(key).export({ format: 'jwk' })
    const { thumbprint } = accountSigner(pemOf(key))
    const digest = execFileSync('openssl', ['dgst', '-sha256', '-binary'], {
      input: `{"crv":"${crv}","kty":"${kty}","x":"${x}","y":"${y}"}`,
    })
    expect(thumbprint).toBe(digest.toString('base64url'))
  })

  test('for an external account is verified with its HMAC key', async () => {
    const secret = randomBytes(32)
    const jws = signWithHmac(secret.toString('base64url'), { kid: 'kid-1', url: 'https://ca.test/new' }, { kty: 'EC' })
    expect(decoded(jws.protected)).toEqual({ alg: 'HS256', kid: 'kid-1', url: 'https://ca.test/new' })
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const key = await webcrypto.subtle.importKey('raw', secret, algorithm, false, ['verify'])
    const signature = Buffer.from(jws.signature, 'base64url')
    expect(await webcrypto.subtle.verify(algorithm, key, signature, inputOf(jws))).toBe(true)
  })

  test('is refused for a key type that authorities do not accept', () => {
    expect(() => accountSigner(pemOf(ED25519))).toThrow(/key of type ed25519 cannot be used for ACME: use RSA/)
  })
})

describe('a certificate request', () => {
  const WILDCARD = ['*.app.lab.test', 'app.lab.test']
  const label = 'a'.repeat(60)
  const MANY = Array.from({ length: 100 }, (_, index) => `n${index}.${label}.${label}.${label}.lab.test`)
  /** Openssl says only in a message whether the signature is good: its exit code is 0 in either case. */
  const readVerified = (der: Buffer): string => {
    const verified = ['req', '-inform', 'DER', '-verify', '-noout', '-text']
    const { stdout, stderr } = spawnSync('openssl', verified, { input: der, encoding: 'utf8' })
    expect(stderr).toContain('verify OK')
    return stdout
  }

  test.each(KEYS)('with a key for %s is verified by openssl and asks for exactly the names', (_alg, key) => {
    for (const names of [['app.lab.test'], WILDCARD, MANY]) {
      const text = readVerified(certificateRequest(pemOf(key), names))
      expect([...text.matchAll(/DNS:([^,\s]+)/g)].map(([, name]) => name)).toEqual(names)
      expect(text).toMatch(/Subject:\s*\n/)
      expect(text.replaceAll(/\s/g, '')).toContain('Version:1(0x0)')
    }
  })

  test('is for the key that it is signed with', () => {
    const key = ec('P-256')
    const pem = execFileSync('openssl', ['req', '-inform', 'DER', '-noout', '-pubkey'], {
      input: certificateRequest(pemOf(key), WILDCARD),
    })
    expect(createPublicKey(pem).equals(createPublicKey(key))).toBe(true)
  })

  test('is refused for a key type that authorities do not accept', () => {
    expect(() => certificateRequest(pemOf(ED25519), WILDCARD)).toThrow(/use RSA/)
  })
})
