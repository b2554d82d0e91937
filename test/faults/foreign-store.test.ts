import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { visit } from '../support/edge/visitor.ts'
import { applied, invariants } from '../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../support/lab/lab.ts'
import { change } from '../support/lab/lab-store.ts'
import { until } from '../support/until.ts'

vi.setConfig({ testTimeout: 120_000 })

/** A service that is started on the wrong store takes nothing off the air, on either edge, and says what it sees. */
const HOSTS = 5
let lab: TestLab
const hosts: string[] = []
beforeAll(async () => {
  lab = await startTestLab()
  await add('early')
  for (const name of ['empty', 'yesterday']) mkdirSync(join(lab.state, name), { mode: 0o700 })
  change(lab, 'vacuum into ?', join(lab.state, 'yesterday', 'drawbridge.db'))
  await add('late')
})
afterAll(() => lab?.stop())

async function add(name: string): Promise<void> {
  const plans = Array.from({ length: HOSTS }, (_, at) => applied(lab, { subdomain: `${name}-${at}` }))
  hosts.push(...(await Promise.all(plans)).map(({ host }) => host))
}

const areAllServed = async (): Promise<boolean> => {
  const edges = Object.values(lab.description.edges)
  const answers = await Promise.all(edges.flatMap((edge) => hosts.map((host) => visit(edge, { host }))))
  return answers.every(({ status }) => status === 200)
}
const logged = () => readFileSync(lab.description.log, 'utf8')

test.each([
  ['empty', 2 * HOSTS],
  ['yesterday', HOSTS],
])('on the store %s nothing goes off the air, and %i unknown hosts are named', async (name, unknown) => {
  const before = logged().length
  await lab.restartService((config) => ({ ...config, stateDir: join(lab.state, name) }))
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
