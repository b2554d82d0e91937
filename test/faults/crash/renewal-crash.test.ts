import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { statePaths } from '../../../lab/state.ts'
import { CRASH_POINTS } from '../../../src/runs/engine/crash-points.ts'
import { STEADY_PEBBLE } from '../../support/acme/pebble-again.ts'
import { callForRenewal, EAGER, isSettled, ordersAt, serials, untilReplaced } from '../../support/acme/renewal.ts'
import { makeCertificate } from '../../support/edge/openssl.ts'
import { startVisiting } from '../../support/edge/tls-visitor.ts'
import { expected, invariants, planned, planOf, removed, run } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { rowsOf } from '../../support/lab/lab-store.ts'
import { until } from '../../support/until.ts'

// Every case needs three starts of the service and a whole renewal, on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

/** The verdict fails only if nginx shows another certificate after a proven reload, which no test can bring about. Its undo does nothing. */
const isUndoOfVerdict = (point: string) => /^renew verify .*undo/.test(point)

/** `npm run campaign -- renewal-crash` tests all points. */
const POINTS = process.env.CAMPAIGN
  ? CRASH_POINTS.filter((point) => point.startsWith('renew ') && !isUndoOfVerdict(point))
  : ['renew certificate challenge-set']

let lab: TestLab
let plans: { planId: string; host: string }[]
beforeAll(async () => {
  Object.assign(process.env, STEADY_PEBBLE)
  lab = await startTestLab({ deathsAllowed: Number.POSITIVE_INFINITY, configure: wildcardZone }).finally(() => {
    for (const name of Object.keys(STEADY_PEBBLE)) delete process.env[name]
  })
})
afterAll(() => lab?.stop())

const wildcardZone = (config: Readonly<Record<string, unknown>>) => {
  const zones = config.zones as Record<string, object>
  return { ...config, ...EAGER, zones: { 'lab.test': { ...zones['lab.test'], certificate: 'wildcard' } } }
}
const hosts = () => plans.map(({ host }) => host)

test('two applies at the same time in a wildcard zone make one order, and the next plan reuses the certificate', async () => {
  plans = await Promise.all(['one', 'two'].map((subdomain) => planned(lab, { subdomain, tls: true })))
  const [change] = (await planOf(lab, plans[0]?.planId ?? '')).changes
  expect(change).toMatchObject({ action: 'issue', names: ['*.lab.test'] })
  for (const answer of await Promise.all(plans.map(({ planId }) => run(lab, planId)))) expected(answer, 200)
  const shown = await Promise.all(hosts().map((host) => serials(lab, host)))
  expect(new Set(shown.flat()).size).toBe(1)
  expect(ordersAt(lab)).toBe(1)
  const third = await planned(lab, { subdomain: 'three', tls: true })
  expect(third.changes[0]).toMatchObject({ action: 'reuse', names: ['*.lab.test'] })
})

test.each(POINTS)(
  'killed at "%s": the next process finishes the renewal, with one order and no failed visit',
  async (point) => {
    const [former = ''] = await serials(lab, hosts()[0] ?? '')
    const before = ordersAt(lab)
    const { edges, acme } = lab.description
    const visiting = startVisiting([edges.primary, edges.secondary], hosts(), () => readFileSync(acme.ca, 'utf8'))
    const heal = point.includes('undo') ? hinderReloads() : () => undefined
    lab.setNextServiceEnvironment({ DRAWBRIDGE_CRASH_AT: point })
    await lab.restartService()
    const death = lab.serviceRestarted()
    await callForRenewal(lab)
    await death
    heal()
    await untilReplaced(lab, hosts(), former)
    expect((await visiting.stop()).failures).toEqual([])
    expect(ordersAt(lab) - before).toBe(1)
    expect(rowsOf(lab, 'select url from orders')).toEqual([])
    await invariants(lab)
  },
)

const loseTheNewOne = async () => {
  const before = await serials(lab, hosts()[0] ?? '')
  const file = (name: string) => join(statePaths(lab.state).certificates, name)
  const [certificate, key] = [file('hand.pem'), file('hand.key')]
  lab.setNextServiceEnvironment({ DRAWBRIDGE_CRASH_AT: 'renew proxy swapped' })
  await lab.restartService()
  const { service = 0 } = lab.description.pids
  const death = lab.serviceRestarted()
  await makeCertificate({ certificate, key, names: ['DNS:*.lab.test'], days: 400 })
  await until('it is dead', () => !existsSync(`/proc/${service}/fd/0`))
  for (const path of [certificate, key]) rmSync(path)
  await death
  await until('it is put back', () => isSettled(lab))
  for (const host of hosts()) expect(await serials(lab, host)).toEqual(before)
  await invariants(lab)
}
if (process.env.CAMPAIGN)
  test('hosts keep their old certificate when the new one disappears after a crash', loseTheNewOne)

test('the hosts can be removed after all crashes', async () => {
  for (const { planId } of plans) await removed(lab, planId)
  await invariants(lab)
})

/** nginx runs, but it cannot be reloaded. */
function hinderReloads(): () => void {
  const { pidFile } = lab.description.edges.primary
  const pid = readFileSync(pidFile)
  writeFileSync(pidFile, '')
  return () => writeFileSync(pidFile, pid)
}
