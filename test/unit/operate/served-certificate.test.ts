import { expect, test } from 'vitest'
import type { Edge } from '../../../src/edge/contract/edge.ts'
import type { Handshake } from '../../../src/edge/contract/visit.ts'
import { certificateId } from '../../../src/edge/record/entry.ts'
import { servedCertificate } from '../../../src/operate/keep/served-certificate.ts'

/** Row 38 of the threats: an edge agent lies about the certificate of a host while the store is rebuilt from the edges. */
const HOST = 'shop.lab.test'
const FINGERPRINT = Array.from({ length: 32 }, () => 'AB').join(':')
const certificate = certificateId(FINGERPRINT)
const ENTRY = { host: HOST, edge: '23', record: undefined, certificate, epoch: 1, number: 1, store: undefined }
const SHOWN = {
  kind: 'certificate',
  ...{ fingerprint: FINGERPRINT, serial: '0A', names: [HOST], coversHost: true, notBefore: 1, notAfter: 2 },
} as const

/** No verb that tells a key is among what a rebuild has of an edge. */
const rebuilt = (shown: Handshake) => {
  const edge: Pick<Edge, 'handshake'> = { handshake: async () => shown }
  const inventory = { covering: async () => undefined, withFingerprint: async () => undefined }
  return servedCertificate(ENTRY, { edge, inventory, now: 1 })
}

test('a pair that no folder has stays on the edge', async () =>
  expect(await rebuilt(SHOWN)).toMatchObject({ pairOnEdge: true, fingerprint: FINGERPRINT, names: [HOST], ours: true }))

test.each([
  ['of another host', { names: ['bank.lab.test'] }],
  ['of a name that leads out of the folder', { names: ['../../../etc'] }],
  ['of a wildcard that is none', { names: ['*./../x.lab.test', '**.lab.test'] }],
  ['with another id than the entry names', { fingerprint: FINGERPRINT.replace('AB', 'CD') }],
  ['with a fingerprint that is none', { fingerprint: 'x' }],
  ['that ends before it begins', { notBefore: 3 }],
  ['with a serial number that is none', { serial: '\u001b[2J' }],
])('a certificate %s is not believed', async (_, lie) => expect(await rebuilt({ ...SHOWN, ...lie })).toBeUndefined())

test('names of other hosts are not ordered again', async () => {
  const kept = await rebuilt({ ...SHOWN, names: ['bank.lab.test', '*.lab.test', '../x', HOST] })
  expect(kept?.names).toEqual(['*.lab.test', HOST])
})

test('an end that no public authority certifies does not put off the renewal', async () => {
  const kept = await rebuilt({ ...SHOWN, notAfter: 8.64e15 })
  expect(kept?.notAfter).toBe(1 + 398 * 24 * 3_600_000)
})
