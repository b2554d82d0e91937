import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { visit } from '../support/edge/visitor.ts'
import { applied, invariants, removed } from '../support/lab/exposure.ts'
import type { TestLab } from '../support/lab/lab.ts'
import { change } from '../support/lab/lab-store.ts'
import { borrowLab } from '../support/lab/shared-lab.ts'
import { until } from '../support/until.ts'

vi.setConfig({ testTimeout: 120_000 })

/** A service that is started on the wrong store takes nothing off the air, on either edge, and says what it sees. */
const HOSTS = 5
let lab: TestLab
const hosts: string[] = []
let foreigner: { host: string; planId: string }
beforeAll(async () => {
  lab = await borrowLab('mortal')
  for (const name of ['empty', 'yesterday', 'foreign']) mkdirSync(join(lab.state, name), { mode: 0o700 })
  // Another installation: its store has hosts of its own, live and removed ones, and an epoch of its own.
  await startOn('foreign')
  foreigner = await applied(lab, { subdomain: 'foreigner' })
  await removed(lab, (await applied(lab, { subdomain: 'former-foreigner' })).planId)
  await lab.restartService((config) => config)
  hosts.push(foreigner.host)
  await add('early')
  change(lab, 'vacuum into ?', join(lab.state, 'yesterday', 'drawbridge.db'))
  copyFileSync(join(lab.state, 'service', 'store.key'), join(lab.state, 'yesterday', 'store.key'))
  await add('late')
}, 180_000)
afterAll(() => lab?.stop())
const startOn = (name: string) => lab.restartService((config) => ({ ...config, stateDir: join(lab.state, name) }))

async function add(name: string): Promise<void> {
  for (let at = 0; at < HOSTS; at += 5) {
    const some = Array.from({ length: 5 }, (_, i) => applied(lab, { subdomain: `${name}-${at + i}` }))
    hosts.push(...(await Promise.all(some)).map(({ host }) => host))
  }
}

const areAllServed = async (): Promise<boolean> => {
  const edges = Object.values(lab.description.edges)
  const answers = await Promise.all(edges.flatMap((edge) => hosts.map((host) => visit(edge, { host }))))
  return answers.every(({ status }) => status === 200)
}
const logged = () => readFileSync(lab.description.log, 'utf8')

test.each([
  ['empty', 2 * HOSTS + 1],
  ['yesterday', HOSTS + 1],
  ['foreign', 2 * HOSTS],
])('on the store %s nothing goes off the air, and %i unknown hosts are named', async (name, unknown) => {
  const before = logged().length
  await startOn(name)
  const told = () => logged().slice(before)
  for (const server of ['23', '73'])
    await until(
      `edge ${server} is told`,
      () =>
        told().includes(`"event":"edge_has_unknown_hosts","server":"${server}"`) &&
        told().includes(`"unknown":${unknown}`),
      60_000,
    )
  expect(await areAllServed()).toBe(true)
})

test('the stores have epochs of their own, and the foreign one still changes its own host', async () => {
  const epochOf = (folder: string) => {
    const database = new Database(join(folder, 'drawbridge.db'), { readonly: true })
    const [row] = database.prepare('select epoch from store_identity').all() as { epoch: number }[]
    database.close()
    return row?.epoch
  }
  expect(epochOf(join(lab.state, 'foreign'))).not.toBe(epochOf(join(lab.state, 'service')))
  await removed(lab, foreigner.planId)
  hosts.shift()
  expect(await areAllServed()).toBe(true)
})

test('on its own store everything agrees again', async () => {
  await lab.restartService((config) => config)
  await until(
    'store, zone and edges agree',
    () =>
      invariants(lab).then(
        () => true,
        () => false,
      ),
    60_000,
  )
  expect(await areAllServed()).toBe(true)
})
