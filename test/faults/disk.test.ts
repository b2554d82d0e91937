import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startWebBackend } from '../support/backends/web-backend.ts'
import { applied, invariants, planned, planOf, removed, run, world } from '../support/lab/exposure.ts'
import { housekeeping } from '../support/lab/housekeeping.ts'
import { startTestLab, type TestLab } from '../support/lab/lab.ts'
import { rowsOf } from '../support/lab/lab-store.ts'
import { expectApplicable, expectFailure, expectPutBack } from '../support/lab/put-back.ts'
import { borrowLab } from '../support/lab/shared-lab.ts'
import { onSmallDisk, type SmallDisk } from '../support/lab/small-disk.ts'
import { until } from '../support/until.ts'

/** Full or read-only disks, each a small tmpfs. Needs root. */
const HINDRANCES = [
  ['full', 'ENOSPC', (disk: SmallDisk) => disk.fill()],
  ['read-only', 'EROFS', (disk: SmallDisk) => disk.readOnly()],
] as const

/** Both are tried in `npm run campaign -- disk`. */
const hindrances = (chosen: number) => (process.env.CAMPAIGN ? HINDRANCES : HINDRANCES.slice(chosen, chosen + 1))

describe('a folder', () => {
  let lab: TestLab
  beforeAll(async () => {
    lab = await borrowLab()
  })
  afterAll(() => lab?.stop())

  const inService = (name: string) => join(lab.state, 'service', name)

  /** Applies while the disk is broken, then repairs it and expects that everything is as before and an apply works. */
  async function hindered(folder: string, hinder: (disk: SmallDisk) => void, planId: string) {
    const before = await world(lab)
    const disk = onSmallDisk(folder, 1024)
    onTestFinished(() => disk.unmount())
    hinder(disk)
    const answer = await run(lab, planId)
    disk.unmount()
    await expectPutBack(lab, planId, before)
    return answer
  }

  test.each(hindrances(0))('for backups is %s: the apply does not start', async (name, _reason, hinder) => {
    const { planId } = await planned(lab, { subdomain: `backup-${name}` })
    const answer = await hindered(inService('backups'), hinder, planId)
    expectFailure(answer, 502, 'apply_failed', 'backup')
    expect(answer.body.detail).toContain('The backup could not be written')
    await expectApplicable(lab, planId)
  })

  test.each(hindrances(1))(
    'of the edge is %s: nothing is left in it, and neighbours stay',
    async (name, reason, hinder) => {
      const neighbour = await applied(lab, { subdomain: 'neighbour', tls: true })
      const { planId } = await planned(lab, { subdomain: `edge-${name}` })
      const answer = await hindered(lab.description.edges.primary.folder, hinder, planId)
      expectFailure(answer, 502, 'apply_failed', 'proxy')
      expect(answer.body.detail).toContain(reason)
      await expectApplicable(lab, planId)
      await removed(lab, neighbour.planId)
    },
  )

  test.each(hindrances(0))('for keys is %s: no certificate is ordered', async (name, reason, hinder) => {
    const { planId } = await planned(lab, { subdomain: `key-${name}`, tls: true })
    const answer = await hindered(inService('acme'), hinder, planId)
    expectFailure(answer, 502, 'apply_failed', 'certificate')
    expect(answer.body.detail).toContain(reason)
    await expectApplicable(lab, planId)
  })
})

describe('the disk of the store', () => {
  let lab: TestLab
  let disk: SmallDisk
  beforeAll(async () => {
    lab = await startTestLab({ service: false })
    disk = onSmallDisk(join(lab.state, 'service'), 8 * 1024)
    await lab.restartService()
  })
  afterAll(async () => {
    await lab?.stopService()
    disk?.unmount()
    await lab?.stop()
  })

  test('is full before an apply: the apply is refused and changes nothing', async () => {
    const { planId } = await planned(lab, { subdomain: 'full' })
    const before = await world(lab)
    disk.fill()
    const answer = await lab.call({ path: '/api/internal/token', body: { planId } })
    expect([answer.status, answer.body.code]).toEqual([503, 'unavailable'])
    const folder = join(lab.state, 'service')
    expect(answer.body.detail).toContain(`the disk of ${folder} is full`)
    const told = [expect.stringContaining('The disk of the state folder is full')]
    expect((await lab.call({ path: '/readyz' })).body).toMatchObject({ status: 'degraded', warnings: told })
    disk.free()
    expect((await lab.call({ path: '/readyz' })).body).toEqual({ status: 'ok' })
    expect(await world(lab)).toEqual(before)
    await expectApplicable(lab, planId)
  })

  test.runIf(process.env.CAMPAIGN)(
    'is full during a run: the run finishes when there is room again',
    async () => {
      const before = await world(lab)
      let isFull = false
      await using backend = await startWebBackend(lab, (_request, response) => {
        if (!isFull) disk.fill()
        isFull = true
        response.end()
      })
      const { planId } = await planned(lab, { subdomain: 'midway', port: backend.port })
      const answer = await run(lab, planId)
      expect(isFull).toBe(true)
      expect([200, 502, 503]).toContain(answer.status)
      disk.free()
      const running = () => rowsOf(lab, "select run_id from runs where state = 'running'")
      await housekeeping(lab, 'recover')
      await until('the run has an end', () => running().length === 0, 45_000)
      const { state } = await planOf(lab, planId)
      expect(answer.status === 200 ? ['applied'] : ['applied', 'rolled_back']).toContain(state)
      await invariants(lab)
      if (state === 'applied') await removed(lab, planId)
      expect(await world(lab)).toEqual(before)
    },
    60_000,
  )
})
