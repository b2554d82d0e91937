import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listing } from '../../support/edge/edge-folder.ts'
import { applied, invariants, removed } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'

/** An apply with TLS by a service that was started with the widest umask there is. */
let lab: TestLab
beforeAll(async () => {
  const former = process.umask(0)
  lab = await startTestLab({ service: false }).finally(() => process.umask(former))
  process.umask(0)
  await lab.restartService().finally(() => process.umask(former))
})
afterAll(() => lab?.stop())

/** Everything below that others may read, write or walk into. */
const openToOthers = (folder: string) => listing(folder).filter((line) => !/^\S+\/? [0-7]00( |$)/.test(line))

const isWritableByOthers = (line: string) => (Number.parseInt(line.split(' ')[1] ?? '', 8) & 0o022) !== 0

test('keys, their folders, the store and the backups are for the service alone, on both edges', async () => {
  const { planId } = await applied(lab, { subdomain: 'secret', tls: true })
  const other = await applied(lab, { subdomain: 'options', options: { maxBody: '5m' } })
  const { primary, secondary } = lab.description.edges
  expect(openToOthers(join(lab.state, 'service'))).toEqual([])
  for (const { folder } of [primary, secondary]) {
    const tls = join(folder, 'current/tls')
    const files = listing(tls)
    expect(files.filter((line) => /^keys-1\/\d\d\.map 600 /.test(line))).toHaveLength(1)
    expect(files.filter((line) => line.includes('/ ') && !line.endsWith(' 700'))).toEqual([])
    // The proofs of entries.
    const proofs = listing(join(folder, 'current')).filter((line) => /^(?:answers|blocks|entries)\/\d/.test(line))
    expect(proofs.length).toBeGreaterThanOrEqual(3)
    expect(proofs.filter((line) => !/ 600( |$)/.test(line))).toEqual([])
    // Anybody may read what is served, nobody else may write it.
    expect(listing(folder).filter((line) => isWritableByOthers(line))).toEqual([])
  }
  await invariants(lab)
  for (const plan of [planId, other.planId]) await removed(lab, plan)
  expect(openToOthers(join(lab.state, 'service'))).toEqual([])
})

test('on a state folder that others can enter the service refuses to start, and says what to do', async () => {
  const folder = join(lab.state, 'service')
  chmodSync(folder, 0o755)
  await expect(lab.restartService()).rejects.toThrow(/chmod|open to others|0700/)
  chmodSync(folder, 0o700)
  await lab.restartService()
  await invariants(lab)
})
