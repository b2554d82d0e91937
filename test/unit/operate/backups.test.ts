import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { newKey } from '../../../src/edge/authority/authority.ts'
import { issueCertificate } from '../../../src/edge/authority/certificate.ts'
import { keylessCertificates, renderCertificate } from '../../../src/edge/config/render-certificate.ts'
import type { Edge, SiteCertificate } from '../../../src/edge/contract.ts'
import { hashOf } from '../../../src/edge/files/files.ts'
import { previewRestore } from '../../../src/operate/backups.ts'
import type { BackupShelf } from '../../../src/runs/backup-shelf.ts'

/** An edge behind an agent gives no key away, so the backups of its files have none. */
const HOST = 'shop.lab.test'

function pairFor(host: string) {
  const { key: keyPem, publicKey } = newKey()
  const certificatePem = issueCertificate(
    { name: host, publicKey: createPublicKey(publicKey), use: 'server', from: Date.now(), lifeMs: 86_400_000 },
    { name: host, key: createPrivateKey(keyPem) },
  )
  return { certificatePem, keyPem, fingerprint: new X509Certificate(certificatePem).fingerprint256 }
}

const PAIR = pairFor(HOST)
const FILES = renderCertificate(HOST, PAIR)
const KEPT = FILES.filter(({ secret }) => !secret)

/** `standing`: the files that the edge has. */
const preview = (standing: typeof FILES, inStock: SiteCertificate) => {
  const texts = new Map(standing.map(({ path, content }) => [path, content]))
  const primary: Partial<Edge> = {
    server: '23',
    keylessCertificates,
    certificateFiles: renderCertificate,
    hashFiles: async (paths) => paths.map((path) => ({ path, hash: hashOf(texts.get(path) ?? null) })),
  }
  const shelf: Partial<BackupShelf> = {
    load: async () => KEPT,
    list: async () => [{ runId: 'run_1', host: HOST, server: '23', at: '', files: [] }],
  }
  return previewRestore('run_1', {
    primary: primary as Edge,
    shelf: shelf as BackupShelf,
    store: { findExposure: async () => undefined },
    loadPair: async () => inStock,
  })
}

test('a backup without the key is restored with the pair that the service has', async () => {
  const { change, differences } = await preview([], PAIR)
  expect(change.files.toSorted(byPath)).toEqual(FILES.toSorted(byPath))
  expect(change.expected).toHaveLength(FILES.length)
  expect(differences.every((one) => one.change === 'appears')).toBe(true)
})

test('a key that stands on the edge stays', async () => {
  const { change } = await preview(
    FILES.filter(({ secret }) => secret),
    { fingerprint: PAIR.fingerprint },
  )
  expect(change.files.toSorted(byPath)).toEqual(KEPT.toSorted(byPath))
})

test('a key that nobody has any more is told before anything is confirmed', async () => {
  await expect(preview([], { fingerprint: PAIR.fingerprint })).rejects.toThrow(
    `The backup has a certificate of ${HOST} whose key neither edge 23 nor this service has any more`,
  )
})

const byPath = (one: { readonly path: string }, other: { readonly path: string }): number =>
  one.path.localeCompare(other.path)
