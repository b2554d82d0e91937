import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { newKey } from '../../../src/edge/authority/authority.ts'
import { issueCertificate } from '../../../src/edge/authority/certificate.ts'
import type { Pair } from '../../../src/edge/contract/change.ts'
import { certificateId } from '../../../src/edge/record/entry.ts'
import type { ChosenCertificate } from '../../../src/model/receipt.ts'
import { previewLines, previewRestore, restoreBackup, shownBackup, shownRestore } from '../../../src/operate/backups.ts'
import type { Backup } from '../../../src/runs/backup-shelf.ts'
import { PLAN_ID } from '../../support/edge/edge.ts'
import { FakeEdge } from '../../support/edge/fake-edge.ts'

/** An edge gives no key away, so backups have none. */
const HOST = 'shop.lab.test'
const NEXT = `plan_${'1'.repeat(26)}`

function pairFor(host: string): Pair {
  const { key: keyPem, publicKey } = newKey()
  const certificatePem = issueCertificate(
    { name: host, publicKey: createPublicKey(publicKey), use: 'server', from: Date.now(), lifeMs: 86_400_000 },
    { name: host, key: createPrivateKey(keyPem) },
  )
  return { certificatePem, keyPem }
}

const PAIR = pairFor(HOST)
const { fingerprint256: FINGERPRINT } = new X509Certificate(PAIR.certificatePem)
const ID = certificateId(FINGERPRINT)
const CERTIFICATE: ChosenCertificate = {
  ...{ fingerprint: FINGERPRINT, certificateFile: '', keyFile: '', source: 'issued', names: [HOST] },
  ...{ notBefore: 0, notAfter: 1, ours: true },
}

let edge: FakeEdge
beforeEach(() => {
  edge = new FakeEdge('23')
})

/** The backup of what stands now. */
const backup = (generation: number | null = edge.changes): Backup => ({
  ...{ runId: 'run_1', host: HOST, server: '23', at: '', generation, certificate: CERTIFICATE },
  entry: edge.standing.get(HOST)?.entry ?? null,
})

const partsOf = (kept: Backup, inStock: Pair | undefined, state?: 'applied' | 'applying') => ({
  primary: edge.edge,
  shelf: { load: async () => kept, list: async () => [kept] },
  store: { findExposure: async () => (state ? ({ host: HOST, state } as never) : undefined) },
  loadPair: async () => inStock,
})

async function restore(kept: Backup, inStock: Pair | undefined = undefined): Promise<string> {
  const parts = partsOf(kept, inStock)
  return restoreBackup(await previewRestore('run_1', parts), parts)
}

test('a host whose certificate the edge has not any more is restored with the pair that the service has', async () => {
  edge.put(HOST, PLAN_ID, ID)
  const kept = backup(null)
  edge.standing.clear()
  expect(await restore(kept, PAIR)).toBe(`Restored on 23: the entry of ${HOST}.`)
  expect(edge.standing.get(HOST)?.entry).toEqual(kept.entry)
  expect([...edge.certificates]).toEqual([ID])
})

test('a pair that stands on the edge is not asked of anybody', async () => {
  edge.put(HOST, PLAN_ID, ID)
  edge.certificates.add(ID)
  const kept = backup(null)
  edge.put(HOST, NEXT)
  await restore(kept)
  expect(edge.planOf(HOST)).toBe(PLAN_ID)
})

test('a key that nobody has any more is told before anything is confirmed', async () => {
  edge.put(HOST, PLAN_ID, ID)
  const kept = backup()
  edge.standing.clear()
  await expect(previewRestore('run_1', partsOf(kept, undefined))).rejects.toThrow(
    `The backup names a certificate of ${HOST} whose key neither edge 23 nor this service has any more`,
  )
})

test('what stood in a generation that the edge keeps comes back from there, an edit of others included', async () => {
  edge.put(HOST, PLAN_ID)
  edge.edit(HOST)
  const kept = backup()
  const fence = { host: HOST, epoch: 1, number: 1 }
  await edge.edge.change({ items: [{ host: HOST, fence, expected: 'any', wanted: 'absent', mend: true }] })
  await restore(kept)
  expect(edge.standing.get(HOST)).toEqual({ entry: kept.entry, isEdited: true })
})

test('what stood in a generation that the edge does not keep any more comes back from the backup', async () => {
  edge.put(HOST, PLAN_ID)
  const kept = backup(7)
  edge.standing.clear()
  await restore(kept)
  expect(edge.planOf(HOST)).toBe(PLAN_ID)
})

test('what has changed since the preview is left', async () => {
  edge.put(HOST, PLAN_ID)
  const kept = backup(null)
  edge.put(HOST, NEXT)
  const parts = partsOf(kept, undefined)
  const preview = await previewRestore('run_1', parts)
  edge.put(HOST, `plan_${'2'.repeat(26)}`)
  await expect(restoreBackup(preview, parts)).rejects.toMatchObject({ kind: 'changed_meanwhile' })
})

test('a preview tells what would happen, and what would go off the air', async () => {
  const preview = async (kept: Backup) =>
    shownRestore(await previewRestore('run_1', partsOf(kept, undefined, 'applied')))
  const without = backup()
  edge.put(HOST, PLAN_ID)
  const [as, taken] = [await preview(backup()), await preview(without)]
  expect([as.differences, as.offAir]).toEqual([[], null])
  expect([taken.differences, taken.offAir]).toEqual([[{ path: '/edge/23', change: 'vanishes' }], HOST])
  expect(previewLines(taken)).toEqual([
    `would be removed on 23: the entry of ${HOST} (/edge/23)`,
    expect.stringContaining(`--off-air ${HOST}`),
  ])
  const kept = backup()
  edge.put(HOST, NEXT)
  expect((await preview(kept)).differences).toMatchObject([{ change: 'changes' }])
  edge.standing.clear()
  expect((await preview(kept)).differences).toMatchObject([{ change: 'appears' }])
})

test('nothing is restored while a run changes the host', () => {
  const restoring = previewRestore('run_1', partsOf(backup(), undefined, 'applying'))
  return expect(restoring).rejects.toMatchObject({ code: 'plan_busy' })
})

test('the secret by which an entry proves itself is not shown', () => {
  edge.put(HOST, PLAN_ID)
  expect(JSON.stringify(shownBackup(backup()))).not.toContain(edge.standing.get(HOST)?.entry.proof.answer)
})
