import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWebBackend } from '../../support/backends/web-backend.ts'
import type { Answer } from '../../support/http/call.ts'
import { granted, invariants, planned, planOf, removed, runWith, world } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { rowsOf } from '../../support/lab/lab-store.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { until } from '../../support/until.ts'

/** A capability is the right to one run of one plan, whatever becomes of that run. */
const USES = 200
let lab: TestLab
beforeAll(async () => {
  lab = await borrowLab('mortal')
})
afterAll(() => lab?.stop())

const runsOf = (planId: string) => rowsOf(lab, `select run_id from runs where plan_id = '${planId}'`).length
const codes = (answers: readonly Answer[]) => answers.map(({ status, body }) => `${status} ${body.code}`)

test.each(process.env.CAMPAIGN ? (['apply', 'remove'] as const) : (['apply'] as const))(
  `${USES} requests to %s at once with one capability: exactly one run`,
  async (action) => {
    const { planId } = await planned(lab, { subdomain: `crowd-${action}` })
    if (action === 'remove') expect((await runWith(lab, await granted(lab, planId), planId)).status).toBe(200)
    const before = runsOf(planId)
    const capability = await granted(lab, planId, action)
    const answers = await Promise.all(Array.from({ length: USES }, () => runWith(lab, capability, planId, action)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(new Set(codes(answers.filter(({ status }) => status !== 200)))).toEqual(new Set(['403 capability_used']))
    expect(runsOf(planId) - before).toBe(1)
    // So many at once may count as overload for a moment.
    await until('the service has calmed down', async () => (await lab.call({ path: '/api/policy' })).status === 200)
    await invariants(lab)
    if (action === 'apply') await removed(lab, planId)
  },
)

test('spent by a run that failed, and still spent after a crash of the service', async () => {
  await using sick = await startWebBackend(lab, (_request, response) => response.writeHead(500).end())
  const { planId } = await planned(lab, { subdomain: 'failed', port: sick.port })
  const capability = await granted(lab, planId)
  expect((await runWith(lab, capability, planId)).status).toBe(502)
  expect(codes([await runWith(lab, capability, planId)])).toEqual(['403 capability_used'])
  await lab.killService()
  expect(codes([await runWith(lab, capability, planId)])).toEqual(['403 capability_used'])
  expect((await planOf(lab, planId)).state).toBe('rolled_back')
  await invariants(lab)
})

test('of another plan, another address, another action, or changed by a character: refused, and nothing changes', async () => {
  const [plan, other] = [await planned(lab, { subdomain: 'mine' }), await planned(lab, { subdomain: 'yours' })]
  const before = await world(lab)
  const capability = await granted(lab, plan.planId)
  const changed = `${capability.slice(0, -1)}${capability.endsWith('A') ? 'B' : 'A'}`
  const neighbour = lab.description.callers.internal.replace(/\d+$/, '99')
  const refusals = [
    await runWith(lab, capability, other.planId),
    await runWith(lab, capability, plan.planId, 'remove'),
    await runWith(lab, changed, plan.planId),
    await lab.call({
      path: '/api/deploy/apply',
      body: { planId: plan.planId },
      headers: { 'x-deploy-capability': capability },
      from: neighbour,
    }),
  ]
  expect(new Set(codes(refusals))).toEqual(new Set(['403 capability_invalid']))
  expect(await world(lab)).toEqual(before)
  for (const { planId } of [plan, other]) expect((await planOf(lab, planId)).state).toBe('planned')
  expect((await runWith(lab, capability, plan.planId)).status).toBe(200)
  await removed(lab, plan.planId)
  await invariants(lab)
})
