import { readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { EDGE_POINTS } from '../../../src/edge/contract/change.ts'
import { CRASH_POINTS } from '../../../src/runs/engine/crash-points.ts'
import { type HeldNginx, heldNginx } from '../../support/edge/held-nginx.ts'
import { applied, granted, invariants, planned, planOf, removed, runWith } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { rowsOf } from '../../support/lab/lab-store.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { until } from '../../support/until.ts'

vi.setConfig({ testTimeout: 120_000 })

/** The service dies while an edge makes a generation for many runs, or while it brings the Secondary into step. */
let lab: TestLab
let primary: HeldNginx
beforeAll(async () => {
  lab = await borrowLab('mortal')
  primary = heldNginx(lab.description.edges.primary.server)
})
afterAll(async () => {
  await lab?.stop()
  primary?.[Symbol.dispose]()
})

const MEMBERS = 8
const isSettled = () => rowsOf(lab, "select 1 from runs where state = 'running'").length === 0
const agrees = () =>
  invariants(lab).then(
    () => true,
    () => false,
  )

/** Runs that wait for a generation, or are in one. */
const atTheEdge = (action: 'apply' | 'remove') =>
  rowsOf(
    lab,
    `select 1 from journal join runs using (run_id) where step = 'proxy' and mark = 'intent' and action = '${action}' and state = 'running'`,
  ).length

/** What the first change of an idle edge would leave out of its generation comes together in the next one: a remove goes first. */
async function crashWithAll(plans: readonly { planId: string }[], former: string): Promise<void> {
  const capabilities = await Promise.all(plans.map(({ planId }) => granted(lab, planId)))
  const removal = await granted(lab, former, 'remove')
  const death = lab.serviceRestarted()
  primary.hold()
  const answers = [runWith(lab, removal, former, 'remove')]
  await until('the removal is at the edge', () => atTheEdge('remove') === 1)
  answers.push(...plans.map(({ planId }, at) => runWith(lab, capabilities[at] ?? '', planId, 'apply')))
  const over = Promise.allSettled(answers)
  await until('all applies wait for the edge', () => atTheEdge('apply') === plans.length)
  primary.release()
  await over
  await death
}

/** The most hosts of the plans that one kept generation of the Primary has. */
function mostTogether(hosts: readonly string[]): number {
  const generations = join(lab.description.edges.primary.folder, 'generations')
  const counts = readdirSync(generations).map((number) => {
    const folder = join(generations, number, 'backends')
    const text = readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n')
    return hosts.filter((host) => text.includes(`${host} http`)).length
  })
  return Math.max(...counts)
}

/** `npm run campaign -- crash` tests all points. */
const MOMENTS = process.env.CAMPAIGN ? EDGE_POINTS : (['swapped'] as const)

test.each(MOMENTS)(`a generation of ${MEMBERS} applies, killed at "%s": none of them is left`, async (point) => {
  const plans = await Promise.all(
    Array.from({ length: MEMBERS }, (_, at) => planned(lab, { subdomain: `${point}-${at}` })),
  )
  const former = await applied(lab, { subdomain: `before-${point}` })
  lab.setNextServiceEnvironment({ DRAWBRIDGE_CRASH_AT: `apply proxy ${point}` })
  await lab.restartService(primary.configure)
  await crashWithAll(plans, former.planId)
  await until('all runs have ended', isSettled)
  const states = await Promise.all(plans.map(async ({ planId }) => (await planOf(lab, planId)).state))
  expect(states).toEqual(plans.map(() => 'rolled_back'))
  expect((await planOf(lab, former.planId)).state).toBe('removed')
  // A generation that was not entered is gone.
  if (['swapped', 'reloaded'].includes(point)) expect(mostTogether(plans.map(({ host }) => host))).toBe(MEMBERS)
  await until('store, zone and edges agree', agrees)
})

/** Nothing is undone in a converge: its undo changes nothing, and no test can reach it. */
const ALL = CRASH_POINTS.filter((point) => point.startsWith('converge ') && !/undo|undone/.test(point))
const POINTS = process.env.CAMPAIGN ? ALL : []

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
  await until('the service answers again', isAnswering)
  await until('store, zone and edges agree', agrees)
  if (LEFT.test(point)) expect((await recoveries()) - before).toBe(1)
  await removed(lab, planId)
})
