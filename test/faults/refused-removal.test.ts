import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { visit } from '../support/edge/visitor.ts'
import { bringInStep, outOfStep } from '../support/lab/edge-step.ts'
import { applied, expected } from '../support/lab/exposure.ts'
import { housekeeping } from '../support/lab/housekeeping.ts'
import { startTestLab, type TestLab } from '../support/lab/lab.ts'
import { change } from '../support/lab/lab-store.ts'
import { drawbridge } from '../support/programs/drawbridge.ts'
import { until } from '../support/until.ts'

/** More hosts than a store can prove to have removed are taken off the Secondary only by a person. */
const HOSTS = 5
let lab: TestLab
const hosts: string[] = []
beforeAll(async () => {
  lab = await startTestLab()
  for (let at = 0; at < HOSTS; at += 1) hosts.push((await applied(lab, { subdomain: `gone-${at}` })).host)
  await applied(lab, { subdomain: 'stays' })
  await bringInStep(lab)
}, 60_000)
afterAll(() => lab?.stop())

const served = async (edge: 'primary' | 'secondary') =>
  (await Promise.all(hosts.map((host) => visit(lab.description.edges[edge], { host })))).filter(
    ({ status }) => status === 200,
  ).length

const converge = (...options: string[]) =>
  drawbridge(['edge', 'converge', '--config', join(lab.state, 'drawbridge.yaml'), '--json', ...options])

test('plans that have ended without a run stay on the Secondary until a person confirms their removal', async () => {
  for (const host of hosts) {
    change(lab, "update plans set state = 'removed' where host = ?", host)
    change(lab, 'delete from runs where host = ?', host)
    change(lab, 'delete from exposures where host = ?', host)
  }
  await lab.restartService((config) => config)
  await housekeeping(lab, 'converge')
  await until('the removal is refused', async () => (await outOfStep(lab)).get('73') === 'removal_refused')
  expect(readFileSync(lab.description.log, 'utf8')).toContain('drawbridge edge converge --confirm-removal')
  expect(await served('secondary')).toBe(HOSTS)

  const shown = JSON.parse((await converge()).stdout)
  expect(shown).toMatchObject({ confirmed: false, edges: [{ server: '23' }, { server: '73' }] })
  expect(shown.edges[1].doubtful.toSorted()).toEqual(hosts.toSorted())
  expect(shown.edges[0].unknown.toSorted()).toEqual(hosts.toSorted())
  expect(await served('secondary')).toBe(HOSTS)

  expect((await converge('--confirm-removal')).code).toBe(2)
  const done = await converge('--confirm-removal', '--yes')
  expect([done.code, JSON.parse(done.stdout).confirmed]).toEqual([0, true])
  expect([await served('primary'), await served('secondary')]).toEqual([HOSTS, 0])
  expect((await visit(lab.description.edges.secondary, { host: 'stays.lab.test' })).status).toBe(200)
  await bringInStep(lab)

  const { lines } = expected(await lab.call({ path: '/api/audit?limit=20' }), 200)
  expect(lines).toContainEqual(
    expect.objectContaining({
      action: 'converge',
      outcome: 'ok',
      facts: expect.objectContaining({ right: 'console', edge: '73' }),
    }),
  )
}, 180_000)
