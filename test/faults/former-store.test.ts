import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/primitives/clock.ts'
import { copyBetween } from '../../src/store/open.ts'
import { visit } from '../support/edge/visitor.ts'
import { applied, granted, removed } from '../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../support/lab/lab.ts'
import { until } from '../support/until.ts'

vi.setConfig({ testTimeout: 120_000 })

/** A store is copied, and its copy is served. Then somebody starts the service on the former store again. */
let lab: TestLab
let shop: { host: string; planId: string }
beforeAll(async () => {
  // Its own: afterwards the edges refuse its first store.
  lab = await startTestLab()
  shop = await applied(lab, { subdomain: 'former-shop' })
  mkdirSync(join(lab.state, 'copied'), { mode: 0o700 })
  await lab.stopService()
  const file = (name: string) => join(lab.state, name, 'drawbridge.db')
  const options = { now: systemClock.now(), edgeEpoch: 0, onProgress: () => undefined }
  await copyBetween({ kind: 'sqlite', file: file('service') }, { kind: 'sqlite', file: file('copied') }, options)
  copyFileSync(join(lab.state, 'service', 'store.key'), join(lab.state, 'copied', 'store.key'))
}, 180_000)
afterAll(() => lab?.stop())

const startOn = (name: string) => lab.restartService((config) => ({ ...config, stateDir: join(lab.state, name) }))
const isServed = async () => {
  const edges = Object.values(lab.description.edges)
  const answers = await Promise.all(edges.map((edge) => visit(edge, { host: shop.host })))
  return answers.every(({ status }) => status === 200)
}

test('the copy has only been started, and the former store cannot change a host any more', async () => {
  await startOn('copied')
  await startOn('service')
  await until('the service says why', () =>
    readFileSync(lab.description.log, 'utf8').includes('Stop the service of the former store.'),
  )
  const capability = await granted(lab, shop.planId, 'remove')
  const { status, body } = await lab.call({
    path: '/api/deploy/remove',
    body: { planId: shop.planId },
    headers: { 'x-deploy-capability': capability },
  })
  expect([status, body.detail]).toEqual([502, expect.stringContaining('later copy of the store')])
  // Before the DNS name goes.
  expect(body.steps).toMatchObject([{ name: 'backup', status: 'failed' }])
  expect(await isServed()).toBe(true)
})

test('the copy changes it', async () => {
  await startOn('copied')
  await removed(lab, shop.planId)
  expect(await isServed()).toBe(false)
})
