import { createPrivateKey, X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { localAuthority } from '../../../bench/authority.ts'

test('a certificate of the local authority is sound', () => {
  const { certificatePem, keyPem, fingerprint } = localAuthority().issue('h1.lab.test')
  const [leaf, root] = certificatePem.split(/(?<=-----END CERTIFICATE-----\n)/).map((pem) => new X509Certificate(pem))
  if (!leaf || !root) throw new Error('The chain has too few certificates.')
  expect(leaf.checkHost('h1.lab.test')).toBe('h1.lab.test')
  expect(leaf.checkHost('h2.lab.test')).toBeUndefined()
  expect(leaf.checkIssued(root) && leaf.verify(root.publicKey)).toBe(true)
  expect(root.ca).toBe(true)
  expect(leaf.ca).toBe(false)
  expect(leaf.checkPrivateKey(createPrivateKey(keyPem))).toBe(true)
  expect(leaf.fingerprint256).toBe(fingerprint)
  expect(leaf.validFromDate.getTime()).toBeLessThan(Date.now())
  expect(leaf.validToDate.getTime()).toBeGreaterThan(Date.now())
})

test('no two certificates have the same serial number or key', () => {
  const authority = localAuthority()
  const issued = Array.from({ length: 20 }, () => new X509Certificate(authority.issue('h1.lab.test').certificatePem))
  expect(new Set(issued.map(({ serialNumber }) => serialNumber)).size).toBe(20)
  expect(new Set(issued.map(({ publicKey }) => publicKey.export({ type: 'spki', format: 'pem' }))).size).toBe(20)
})
