import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { masterPid } from '../../src/nginx/process/nginx-workers.ts'
import { addOwnHosts } from '../support/edge/foreign-hosts.ts'
import type { Answer } from '../support/http/call.ts'
import { applied, granted, invariants, planned, planOf, removed, run, runWith, world } from '../support/lab/exposure.ts'
import type { TestLab } from '../support/lab/lab.ts'
import { borrowLab } from '../support/lab/shared-lab.ts'
import { installWildcard } from '../support/lab/wildcard.ts'

let lab: TestLab
let takeWildcardAway: () => void
beforeAll(async () => {
  lab = await borrowLab()
  takeWildcardAway = await installWildcard(lab)
})
afterAll(async () => {
  takeWildcardAway?.()
  await lab?.stop()
})

const verdicts = (answers: readonly Answer[]) => answers.map(({ status, body }) => [status, body.code]).toSorted()

test('a second plan for an exposed name is refused', async () => {
  const [first, second] = [await planned(lab, { subdomain: 'one' }), await planned(lab, { subdomain: 'one' })]
  expect((await run(lab, first.planId)).status).toBe(200)
  const late = await run(lab, second.planId)
  expect([late.status, late.body.code]).toEqual([409, 'dns_name_taken'])
  expect((await planOf(lab, first.planId)).state).toBe('applied')
  await invariants(lab)
  await removed(lab, first.planId)
})

test('of two plans for one name at the same time one applies and the other is refused', async () => {
  const plans = [await planned(lab, { subdomain: 'both' }), await planned(lab, { subdomain: 'both' })]
  const answers = await Promise.all(plans.map(({ planId }) => run(lab, planId)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
  const refused = answers.find(({ status }) => status === 409)
  expect(['dns_name_taken', 'plan_busy']).toContain(refused?.body.code)
  await invariants(lab)
  await removed(lab, answers.find(({ status }) => status === 200)?.body.planId)
})

test('of two applies of one plan at the same time one runs', async () => {
  const { planId } = await planned(lab, { subdomain: 'single' })
  const capabilities = [await granted(lab, planId), await granted(lab, planId)]
  const answers = await Promise.all(capabilities.map((capability) => runWith(lab, capability, planId)))
  expect(verdicts(answers)).toEqual([
    [200, undefined],
    [409, 'plan_busy'],
  ])
  await invariants(lab)
  await removed(lab, planId)
})

test('of an apply and a removal at the same time one waits or is refused', async () => {
  const { planId } = await planned(lab, { subdomain: 'torn' })
  const [toApply, toRemove] = [await granted(lab, planId), await granted(lab, planId, 'remove')]
  const answers = await Promise.all([runWith(lab, toApply, planId), runWith(lab, toRemove, planId, 'remove')])
  expect(answers[0]?.status).toBe(200)
  expect([answers[1]?.status, answers[1]?.body.code]).toEqual([
    409,
    expect.stringMatching(/plan_busy|plan_not_applied/),
  ])
  await invariants(lab)
  const both = [await granted(lab, planId), await granted(lab, planId, 'remove')] as const
  const second = await Promise.all([runWith(lab, both[1], planId, 'remove'), runWith(lab, both[0], planId)])
  expect(second[0]?.status).toBe(200)
  expect(second[1]?.status).toBe(409)
  await invariants(lab)
})

const NEIGHBOURS = 300
const AT_ONCE = 16

test('sixteen hosts at the same time beside hundreds, half with TLS and one certificate, are all applied and removed', {
  timeout: 120_000,
}, async () => {
  const names = Array.from({ length: NEIGHBOURS }, (_, i) => `h${i}.lab.test`)
  const { config, pidFile } = lab.description.edges.primary
  const own = readFileSync(config)
  onTestFinished(() => {
    writeFileSync(config, own)
    process.kill(masterPid(pidFile) ?? 0, 'SIGHUP')
  })
  await addOwnHosts(lab, (address) =>
    names.map((name) => `server { listen ${address}:8080; server_name ${name}; return 204; }`).join('\n'),
  )
  const before = await world(lab)
  const hosts = Array.from({ length: AT_ONCE }, (_, i) => ({ subdomain: `crowd-${i}`, tls: i % 2 === 0 }))
  const answers = await Promise.all(hosts.map((host) => applied(lab, host)))
  expect(answers.map(({ state, warnings }) => [state, warnings])).toEqual(hosts.map(() => ['applied', []]))
  await invariants(lab)
  await Promise.all(answers.map(({ planId }) => removed(lab, planId)))
  expect(await world(lab)).toEqual(before)
  await invariants(lab)
})

test.runIf(process.env.CAMPAIGN)(
  'applies and removals of different hosts at the same time do not disturb each other',
  async () => {
    const standing = await Promise.all(
      Array.from({ length: 5 }, (_, i) => applied(lab, { subdomain: `old-${i}`, tls: true })),
    )
    const [coming] = await Promise.all([
      Promise.all(Array.from({ length: 5 }, (_, i) => applied(lab, { subdomain: `new-${i}`, tls: true }))),
      Promise.all(standing.map(({ planId }) => removed(lab, planId))),
    ])
    await invariants(lab)
    await Promise.all(coming.map(({ planId }) => removed(lab, planId)))
    await invariants(lab)
  },
)
