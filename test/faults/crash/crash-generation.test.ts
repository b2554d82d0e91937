import { renameSync } from 'node:fs'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { EDGE_POINTS } from '../../../src/edge/contract.ts'
import { CRASH_POINTS } from '../../../src/runs/engine/crash-points.ts'
import { applied, granted, invariants, planned, planOf, removed, runWith } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { rowsOf } from '../../support/lab/lab-store.ts'
import { until } from '../../support/until.ts'

vi.setConfig({ testTimeout: 120_000 })

/** The service dies while an edge makes a generation for many runs, or while it brings the Secondary into step. */
let lab: TestLab
beforeAll(async () => {
  lab = await startTestLab({ deathsAllowed: Number.POSITIVE_INFINITY })
})
afterAll(() => lab?.stop())

const MEMBERS = 8
const isSettled = () => rowsOf(lab, "select 1 from runs where state = 'running'").length === 0
const agrees = () =>
  invariants(lab).then(
    () => true,
    () => false,
  )

test.each(EDGE_POINTS)(
  `${MEMBERS} applies at once, killed at "%s": each is wholly there or wholly not`,
  async (point) => {
    const plans = await Promise.all(
      Array.from({ length: MEMBERS }, (_, at) => planned(lab, { subdomain: `${point}-${at}`.replaceAll('_', '-') })),
    )
    lab.setNextServiceEnvironment({ DRAWBRIDGE_CRASH_AT: `apply proxy ${point}` })
    await lab.restartService()
    const capabilities = await Promise.all(plans.map(({ planId }) => granted(lab, planId)))
    const death = lab.serviceRestarted()
    await Promise.all(
      plans.map(({ planId }, at) => runWith(lab, capabilities[at] ?? '', planId, 'apply').catch(() => undefined)),
    )
    await death
    await until('all runs have ended', isSettled, 60_000)
    const states = await Promise.all(plans.map(async ({ planId }) => (await planOf(lab, planId)).state))
    expect(states.filter((state) => !['applied', 'rolled_back', 'planned'].includes(state))).toEqual([])
    await until('store, zone and edges agree', agrees, 60_000)
    for (const { planId } of plans.filter((_plan, at) => states[at] === 'applied')) await removed(lab, planId)
  },
)

/** Nothing is undone in a converge: its undo changes nothing, and no test can reach it. */
const ALL = CRASH_POINTS.filter((point) => point.startsWith('converge ') && !/undo|undone/.test(point))
const POINTS = process.env.CAMPAIGN ? ALL : ['converge proxy swapped', 'converge run before-finish']

const recoveries = async (): Promise<number> => {
  const { body } = await lab.call({ path: '/api/audit?limit=500' })
  const lines = body.lines as { action: string; facts?: { recovered?: boolean } }[]
  return lines.filter(({ action, facts }) => action === 'converge' && facts?.recovered).length
}

const isAnswering = () =>
  lab.call({ path: '/livez' }).then(
    ({ status }) => status === 200,
    () => false,
  )

/** Points at which the run has begun and is not in the books as ended. */
const LEFT = /swapped$|before-finish$/

test.each(POINTS)('killed at "%s": the Secondary comes into step all the same', async (point) => {
  const { pidFile } = lab.description.edges.secondary
  const before = await recoveries()
  renameSync(pidFile, `${pidFile}.hidden`)
  const { planId } = await applied(lab, { subdomain: point.replaceAll(' ', '-') })
  renameSync(`${pidFile}.hidden`, pidFile)
  lab.setNextServiceEnvironment({ DRAWBRIDGE_CRASH_AT: point })
  // It dies while it starts: the Secondary is behind.
  void lab.killService('SIGKILL').catch(() => undefined)
  await until('the service is dead', async () => !(await isAnswering()))
  await until('the service answers again', isAnswering, 60_000)
  await until('store, zone and edges agree', agrees, 60_000)
  if (LEFT.test(point)) expect((await recoveries()) - before).toBe(1)
  await removed(lab, planId)
})
