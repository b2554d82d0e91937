import { once } from 'node:events'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { servingWorkers } from '../../src/nginx/process/nginx-workers.ts'
import { type HeldNginx, heldNginx } from '../support/edge/held-nginx.ts'
import { visit } from '../support/edge/visitor.ts'
import { bringInStep } from '../support/lab/edge-step.ts'
import { applied, invariants, planned, planOf, removed, run, world } from '../support/lab/exposure.ts'
import { housekeeping } from '../support/lab/housekeeping.ts'
import type { TestLab } from '../support/lab/lab.ts'
import { expectFailure } from '../support/lab/put-back.ts'
import { borrowLab } from '../support/lab/shared-lab.ts'
import { until } from '../support/until.ts'

/** The Secondary gets the same changes as the Primary. Its failures are reported and never fail a run. */
let lab: TestLab
let held: HeldNginx
beforeAll(async () => {
  lab = await borrowLab('mortal')
  held = heldNginx(lab.description.edges.secondary.server)
  await lab.restartService(held.configure)
})
afterAll(async () => {
  await lab?.stop()
  held?.[Symbol.dispose]()
})
const foreignFile = () => join(lab.description.edges.primary.folder, 'zz-somebody-else.conf')
afterEach(() => rmSync(foreignFile(), { force: true }))

const servingOnSecondary = () => servingWorkers(lab.description.pids.edgeSecondary ?? 0)

/** Hides the nginx of the Secondary during `work`. */
async function withoutSecondary<T>(work: () => Promise<T>): Promise<T> {
  const { pidFile } = lab.description.edges.secondary
  renameSync(pidFile, `${pidFile}.hidden`)
  return work().finally(() => renameSync(`${pidFile}.hidden`, pidFile))
}

test('an apply succeeds with a warning when the Secondary cannot be changed', async () => {
  const { planId } = await planned(lab, { subdomain: 'half' })
  const { status, body } = await withoutSecondary(() => run(lab, planId))
  expect([status, body.state]).toEqual([200, 'applied'])
  expect(body.verification).toMatchObject({
    primary: { server: '23', ok: true },
    secondary: { server: '73', ok: false, optional: true },
  })
  expect(body.verification.secondary).toMatchObject({ inStep: false, outOfStep: { cause: 'away', hosts: 1 } })
  expect(body.warnings).toEqual([body.verification.secondary.detail])
  expect(body.warnings[0]).toContain('Secondary could not be changed')
  expect((await visit(lab.description.edges.primary, { host: 'half.lab.test' })).status).toBe(200)
  await removed(lab, planId)
})

test('an apply reports that the Secondary serves the host, without a warning', async () => {
  await bringInStep(lab)
  const { planId } = await planned(lab, { subdomain: 'whole' })
  const former = servingOnSecondary()
  const { verification, warnings } = (await run(lab, planId)).body
  // After the answer, no old worker of the Secondary may still serve.
  expect(former.filter((pid) => servingOnSecondary().includes(pid))).toEqual([])
  expect(verification.secondary).toMatchObject({ server: '73', ok: true, httpStatus: 200, inStep: true })
  expect(warnings).toEqual([])
  await removed(lab, planId)
})

test('a removal succeeds when the Secondary cannot be changed', async () => {
  const { planId } = await applied(lab, { subdomain: 'going' })
  const { status } = await withoutSecondary(() => run(lab, planId, 'remove'))
  expect([status, (await planOf(lab, planId)).state]).toEqual([200, 'removed'])
})

test.runIf(process.env.CAMPAIGN)('a removal that fails on the Primary is undone on both edges', async () => {
  await bringInStep(lab)
  const { planId } = await applied(lab, { subdomain: 'staying' })
  const { primary, secondary } = lab.description.edges
  const before = await world(lab)
  const taken = createServer().listen(0, primary.address)
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  // `nginx -t` passes, but the reload fails because another program uses the port.
  writeFileSync(foreignFile(), `server { listen ${primary.address}:${port}; server_name zz.test; }\n`)
  const answer = await run(lab, planId, 'remove')
  rmSync(foreignFile())
  taken.close()
  expectFailure(answer, 502, 'remove_failed', 'proxy')
  expect(await world(lab)).toEqual(before)
  for (const edge of [primary, secondary]) {
    expect((await visit(edge, { host: 'staying.lab.test' })).status).toBe(200)
  }
  expect((await planOf(lab, planId)).state).toBe('applied')
  await removed(lab, planId)
})

test('a run waits two seconds for the Secondary and leaves it to a converge, which is the only one to change it then', async () => {
  await bringInStep(lab)
  const { planId, host } = await planned(lab, { subdomain: 'late' })
  const { secondary } = lab.description.edges
  const isOnSecondary = async () => (await visit(secondary, { host })).status === 200
  held.hold()
  const { status, body } = await run(lab, planId)
  expect([status, body.verification.secondary]).toMatchObject([
    200,
    { ok: false, inStep: false, outOfStep: { cause: 'catching_up' } },
  ])
  expect(body.verification.secondary.detail).toContain('within 2 s')
  expect(body.steps.find(({ name }: { name: string }) => name === 'verify').ms).toBeGreaterThan(1_900)
  expect(await isOnSecondary()).toBe(false)
  // From now on the change of the run has no lease: it is refused, or this would change the edge twice.
  held.release()
  await housekeeping(lab, 'converge')
  await until('the Secondary serves the host', isOnSecondary)
  const hasConverged = async () =>
    (await planOf(lab, planId)).runs.some(
      ({ action, state }: Record<string, string>) => action === 'converge' && state === 'succeeded',
    )
  await until('a converge has done it', hasConverged)
  await removed(lab, planId)
}, 120_000)

test('the Secondary catches up by itself: what it missed is served or gone, and everything agrees again', async () => {
  await bringInStep(lab)
  await invariants(lab)
})
