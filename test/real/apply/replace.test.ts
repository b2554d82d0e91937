import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startLoad } from '../../support/backends/load.ts'
import { startWebBackend, type WebBackend } from '../../support/backends/web-backend.ts'
import { zoneRecords } from '../../support/dns/zone-transfer.ts'
import { visit } from '../../support/edge/visitor.ts'
import { entryFile } from '../../support/lab/entry-file.ts'
import {
  applied,
  expected,
  granted,
  invariants,
  planned,
  planOf,
  planRequest,
  removed,
  run,
  world,
} from '../../support/lab/exposure.ts'
import { housekeeping } from '../../support/lab/housekeeping.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'

/** A plan that takes the place of an applied one, on a whole lab: another backend, TLS on or off, another end. */
let lab: TestLab
let other: WebBackend
let otherStatus = 200
beforeAll(async () => {
  lab = await borrowLab()
  const address = lab.description.backends.find(({ server }) => server === '253')?.address
  other = await startWebBackend(lab, (_request, response) => response.writeHead(otherStatus).end('the other'), address)
})
afterEach(() => invariants(lab))
afterAll(async () => {
  await other?.[Symbol.asyncDispose]()
  await lab?.stop()
})

const ca = () => readFileSync(lab.description.acme.ca)
const refusal = async (overrides: Record<string, unknown>) =>
  (await lab.call({ path: '/api/deploy/plan', body: planRequest(lab, overrides) })).body

test('another server and port: DNS is not touched, no request fails, and the former plan is replaced', async () => {
  const former = await applied(lab, { subdomain: 'moves' })
  const before = await zoneRecords(lab)
  const plan = await planned(lab, { subdomain: 'moves', server: '253', port: other.port, replaces: former.planId })
  expect(plan.changes).toMatchObject([{ kind: 'proxy', action: 'update' }])
  expect(plan.steps).toEqual(['check', 'backup', 'proxy', 'verify'])
  const load = startLoad(lab.description.edges.primary, 'moves.lab.test', '/healthz', { perSecond: 100 })
  const answer = expected(await run(lab, plan.planId), 200)
  const { served, failures } = await load.stop()
  expect(answer).toMatchObject({ planId: plan.planId, state: 'applied', verification: { secondary: { ok: true } } })
  expect([failures, served > 0]).toEqual([[], true])
  expect(await zoneRecords(lab)).toEqual(before)
  expect((await planOf(lab, former.planId)).state).toBe('replaced')
  expect((await run(lab, former.planId, 'remove')).body.code).toBe('plan_not_applied')
  for (const edge of [lab.description.edges.primary, lab.description.edges.secondary])
    expect((await visit(edge, { host: 'moves.lab.test', path: '/healthz' })).text).toBe('the other')
  await removed(lab, plan.planId)
  expect((await zoneRecords(lab)).filter((line) => line.name.includes('moves'))).toEqual([])
})

test('TLS on, and off again', async () => {
  const plain = await applied(lab, { subdomain: 'switch' })
  const secure = await planned(lab, { subdomain: 'switch', tls: true, replaces: plain.planId })
  expect(secure.steps).toEqual(['check', 'backup', 'certificate', 'proxy', 'verify'])
  expected(await run(lab, secure.planId), 200)
  const { primary } = lab.description.edges
  expect((await visit(primary, { host: 'switch.lab.test', ca: ca() })).status).toBe(200)
  expect((await visit(primary, { host: 'switch.lab.test' })).status).toBe(308)
  const again = await planned(lab, { subdomain: 'switch', replaces: secure.planId })
  expected(await run(lab, again.planId), 200)
  expect((await visit(primary, { host: 'switch.lab.test' })).status).toBe(200)
  await removed(lab, again.planId)
})

test('a removal that fails after an update leaves the new entry on both edges', async () => {
  const former = await applied(lab, { subdomain: 'kept' })
  const plan = await planned(lab, { subdomain: 'kept', server: '253', port: other.port, replaces: former.planId })
  expected(await run(lab, plan.planId), 200)
  const before = await world(lab)
  const { primary, secondary } = lab.description.edges
  // What the Secondary lacks is the entry of the applied plan, and not that of the plan before it.
  rmSync(entryFile(secondary, 'kept.lab.test'))
  const { pidFile } = primary
  const pid = readFileSync(pidFile)
  writeFileSync(pidFile, '')
  const answer = await run(lab, plan.planId, 'remove').finally(() => writeFileSync(pidFile, pid))
  expect([answer.status, answer.body.code]).toEqual([502, 'remove_failed'])
  await housekeeping(lab, 'converge')
  expect(await world(lab)).toEqual(before)
  await removed(lab, plan.planId)
})

/** Ten in a campaign. */
const UPDATES = process.env.CAMPAIGN ? 10 : 2

test(`${UPDATES} updates between two backends under 100 requests per second: no request fails`, async () => {
  let { planId } = await applied(lab, { subdomain: 'busy' })
  const targets = [
    { server: '253', port: other.port },
    { server: '25', port: 3000 },
  ]
  const { primary } = lab.description.edges
  const load = startLoad(primary, 'busy.lab.test', '/healthz', { perSecond: 100 })
  const answers: string[] = []
  for (const target of Array.from({ length: UPDATES / 2 }, () => targets).flat()) {
    const plan = await planned(lab, { subdomain: 'busy', ...target, replaces: planId })
    planId = expected(await run(lab, plan.planId), 200).planId
    answers.push((await visit(primary, { host: 'busy.lab.test', path: '/healthz' })).text)
  }
  const { served, failures } = await load.stop()
  expect(failures).toEqual([])
  // A busy machine sends fewer than 100 a second, but some during each update.
  expect(served).toBeGreaterThan(UPDATES * 5)
  expect(new Set(answers).size).toBe(2)
  expect(answers.filter((text) => text === 'the other')).toHaveLength(UPDATES / 2)
  await removed(lab, planId)
})

test('an update that fails leaves the former exposure as it was', async () => {
  const former = await applied(lab, { subdomain: 'stays' })
  const plan = await planned(lab, { subdomain: 'stays', server: '253', port: other.port, replaces: former.planId })
  otherStatus = 503
  const before = await world(lab)
  const answer = await run(lab, plan.planId)
  otherStatus = 200
  expect([answer.status, answer.body.code]).toEqual([502, 'apply_failed'])
  expect(answer.body.rollback.map(({ status }: { status: string }) => status)).toEqual([
    'undone',
    'undone',
    'undone',
    'undone',
  ])
  expect(await world(lab)).toEqual(before)
  expect((await planOf(lab, former.planId)).state).toBe('applied')
  expect((await planOf(lab, plan.planId)).state).toBe('rolled_back')
  await removed(lab, former.planId)
})

const extend = async (planId: string, expiresIn: number) =>
  lab.call({
    path: '/api/deploy/extend',
    body: { planId, expiresIn },
    headers: { 'x-deploy-capability': await granted(lab, planId) },
  })

test('a plan that would end the exposure sooner than an extend since then is stale, and the extend holds', async () => {
  const former = await applied(lab, { subdomain: 'extended', expiresIn: 300 })
  const plan = await planned(lab, { subdomain: 'extended', replaces: former.planId, expiresIn: 3_600 })
  const { expiresAt } = expected(await extend(former.planId, 86_400), 200)
  const answer = await run(lab, plan.planId)
  expect([answer.status, answer.body.code, answer.body.moved]).toEqual([409, 'plan_stale', ['the end of the exposure']])
  expect((await lab.call({ path: '/api/health?host=extended.lab.test' })).body).toMatchObject({ expiresAt })
  const longer = await planned(lab, { subdomain: 'extended', replaces: former.planId, expiresIn: 172_800 })
  expected(await run(lab, longer.planId), 200)
  await removed(lab, longer.planId)
})

test('an extend and a renewal are refused as busy while the exposure is updated', async () => {
  let isSlow = false
  const held = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const answerLate = async () => {
    if (!isSlow) return
    asked.resolve()
    await held.promise
  }
  await using slow = await startWebBackend(lab, (_request, response) => response.end(), undefined, 0, answerLate)
  const former = await applied(lab, { subdomain: 'held', tls: true, expiresIn: 300 })
  const plan = await planned(lab, { subdomain: 'held', tls: true, port: slow.port, replaces: former.planId })
  isSlow = true
  const updating = run(lab, plan.planId)
  await asked.promise
  const answers = [await extend(former.planId, 600), await run(lab, former.planId, 'renew')]
  held.resolve()
  for (const { status, body } of answers)
    expect([status, body.code, body.detail]).toEqual([409, 'plan_busy', 'A plan that replaces this one is applying.'])
  expected(await updating, 200)
  await removed(lab, plan.planId)
})

test('what cannot be replaced is refused by name', async () => {
  const { planId } = await applied(lab, { subdomain: 'ends', expiresIn: 3_600 })
  const permanent = await applied(lab, { subdomain: 'endless' })
  const nobody = 'plan_00000000000000000000000000'
  expect((await refusal({ subdomain: 'ends', replaces: nobody })).code).toBe('plan_not_found')
  expect((await refusal({ subdomain: 'another', replaces: planId })).errors).toMatchObject([{ field: 'replaces' }])
  expect((await refusal({ subdomain: 'ends', replaces: planId, expiresIn: 300 })).code).toBe('lease_not_longer')
  expect((await refusal({ subdomain: 'endless', replaces: permanent.planId, expiresIn: 300 })).code).toBe(
    'lease_not_longer',
  )
  expect((await refusal({ subdomain: 'ends' })).code).toBe('dns_name_taken')
  const only = await planned(lab, { subdomain: 'only-planned' })
  expect((await refusal({ subdomain: 'only-planned', replaces: only.planId })).code).toBe('plan_not_applied')
  const longer = await planned(lab, { subdomain: 'ends', replaces: planId, expiresIn: 7_200 })
  expected(await run(lab, longer.planId), 200)
  const second = await planned(lab, { subdomain: 'endless', replaces: permanent.planId })
  await removed(lab, permanent.planId)
  expect((await run(lab, second.planId)).body.code).toBe('plan_stale')
  await removed(lab, longer.planId)
})
