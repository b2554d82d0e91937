import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { launcher } from '../../../lab/checkout.ts'
import { startSwitchedBackend } from '../../support/backends/switched-backend.ts'
import { type Agent, errorOf, startAgentHere, structured } from '../../support/http/agent.ts'
import { applied, granted, planned, planRequest, run, runWith } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { command } from '../../support/programs/command.ts'
import { onTerminal } from '../../support/programs/pseudo-terminal.ts'

vi.setConfig({ testTimeout: 60_000 })

/** Owner and note of a plan: kept, told inside, and asked about before another owner's host is changed. */
let lab: TestLab
let agent: Agent
beforeAll(async () => {
  lab = await borrowLab()
  agent = await startAgentHere(lab.description.inside, { owner: 'bob' })
}, 60_000)
afterAll(async () => {
  await agent?.close()
  await lab?.stop()
})

const LABELS = { owner: 'Alice Müller', note: 'Demo for Monday (sales)' }
const said = (args: readonly string[], owner?: string) =>
  command([...args, '--url', lab.description.inside], { environment: { DRAWBRIDGE_OWNER: owner ?? '' } })
const outside = (path: string, body?: object) => lab.call({ from: 'public', path, ...(body && { body }) })

test('are kept and told inside by plan, list, status, audit and events, and not outside', async () => {
  const { planId } = await applied(lab, { subdomain: 'labelled', ...LABELS })
  const read = (await lab.call({ path: `/api/deploy/plans/${planId}` })).body
  expect(read.request).toMatchObject(LABELS)
  const { plans } = (await lab.call({ path: '/api/deploy/plans' })).body
  expect(plans[0].request).toMatchObject(LABELS)
  expect((await lab.call({ path: '/api/health?host=labelled.lab.test' })).body).toMatchObject(LABELS)
  const { lines } = (await lab.call({ path: '/api/audit' })).body
  const facts = (action: string) =>
    lines.find((line: { action: string; planId: string }) => line.action === action && line.planId === planId)?.facts
  expect(facts('plan')).toMatchObject(LABELS)
  expect(facts('apply')).toMatchObject(LABELS)
  expect((await outside(`/api/deploy/plans/${planId}`)).body.request).not.toHaveProperty('owner')
  expect((await outside('/api/health?host=labelled.lab.test')).body).not.toHaveProperty('owner')
  const second = await planned(lab, { subdomain: 'labelled', health: '/?new', replaces: planId })
  expect(second.request).toMatchObject(LABELS)
})

test.each([
  ['owner', '<b>alice</b>'],
  ['owner', ' alice'],
  ['owner', 'a'.repeat(65)],
  ['note', 'two\nlines'],
  ['note', 'right\u202eto left'],
  ['note', '`rm`'],
])('%s %j is refused in words', async (field, text) => {
  const { status, body } = await lab.call({ path: '/api/deploy/plan', body: planRequest(lab, { [field]: text }) })
  expect(status).toBe(400)
  expect(body.errors).toMatchObject([{ field }])
  expect(body.errors[0].message).toMatch(/^must (be|NOT have)/)
})

test("the plan of a name that is exposed is told inside, and nobody's outside", async () => {
  const { planId } = await applied(lab, { subdomain: 'held' })
  const inside = await lab.call({ path: '/api/deploy/plan', body: planRequest(lab, { subdomain: 'held' }) })
  expect(inside.body).toMatchObject({ code: 'dns_name_taken', holder: { planId } })
  const other = await outside('/api/deploy/plan', planRequest(lab, { subdomain: 'held' }))
  expect(other.body).toMatchObject({ code: 'dns_name_taken' })
  expect(JSON.stringify(other.body)).not.toContain(planId)
})

test('a busy host tells whose run it is and when to try again', async () => {
  await using backend = await startSwitchedBackend(lab, 'here\n')
  const { planId } = await planned(lab, { subdomain: 'busy', port: backend.port })
  const other = await planned(lab, { subdomain: 'busy', port: backend.port })
  const [first, second] = [await granted(lab, planId), await granted(lab, other.planId)]
  const [one, two] = await Promise.all([runWith(lab, first, planId), runWith(lab, second, other.planId)])
  const refused = one.status === 200 ? two : one
  const winner = one.status === 200 ? planId : other.planId
  expect([one.status, two.status].toSorted()).toEqual([200, 409])
  expect(refused.body).toMatchObject({ holder: { planId: winner } })
  if (refused.body.code === 'plan_busy') {
    expect(refused.body).toMatchObject({ retryAfter: 5, holder: { action: 'apply' } })
    expect(refused.headers['retry-after']).toBe('5')
  }
})

test('the command line asks before the host of another owner is changed or removed', async () => {
  const host = 'hers.lab.test'
  const up = ['up', host, '--server', '25', '--port', '3000', '--no-tls', '--yes']
  expect(await said([...up, '--note', 'A trial'], 'alice')).toMatchObject({ code: 0 })
  expect((await said(['health', host])).stdout).toMatch(/owner +alice\nnote +A trial/)
  const change = [...up, '--health', '/?2']
  for (const args of [['remove', host, '--yes'], change, ['renew', host], ['repair', host]]) {
    const refused = await said(args, 'bob')
    expect(refused, args.join(' ')).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain(`${host} belongs to alice. You are bob. Pass --other-owner to`)
  }
  expect((await said(['remove', host, '--yes'])).stderr).toContain('Nobody said who you are')
  const line = `DRAWBRIDGE_OWNER=bob ${launcher()} remove ${host} --yes --url ${lab.description.inside}; echo "code $?"`
  const declined = await onTerminal(line, { input: 'n\n' })
  expect(declined).toContain(`${host} belongs to alice. You are bob.`)
  expect(declined).toMatch(/Remove hers\.lab\.test\? \[y\/N\][\s\S]*Nothing was changed\.[\s\S]*code 8/)
  expect(await said([...change, '--other-owner'], 'bob')).toMatchObject({ code: 0 })
  expect((await said(['health', host])).stdout).toMatch(/owner +alice/)
  expect(await said(['remove', host, '--yes'], 'ALICE')).toMatchObject({ code: 0 })
})

test('a file of exposures has them, and asks about those of others', async () => {
  await applied(lab, { subdomain: 'filed', ...LABELS })
  const file = join(lab.state, 'exposures.yaml')
  writeFileSync(file, (await said(['export'])).stdout)
  const listed = parse(readFileSync(file, 'utf8')).exposures as { host: string }[]
  expect(listed.find(({ host }) => host === 'filed.lab.test')).toMatchObject(LABELS)
  expect(await said(['diff', '-f', file])).toMatchObject({ code: 0 })
  writeFileSync(file, readFileSync(file, 'utf8').replace('Demo for Monday (sales)', 'Moved to Tuesday'))
  const refused = await said(['apply', '-f', file, '--yes'], 'bob')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('belongs to Alice Müller. You are bob.') })
  expect(await said(['apply', '-f', file, '--yes'], 'alice müller')).toMatchObject({ code: 0 })
  const { body } = await lab.call({ path: '/api/health?host=filed.lab.test' })
  expect(body).toMatchObject({ ...LABELS, note: 'Moved to Tuesday' })
})

test('an agent must confirm the owner by name; its own hosts need no confirmation', async () => {
  const { planId } = await applied(lab, { subdomain: 'agents', owner: 'alice' })
  const host = 'agents.lab.test'
  const changing = planRequest(lab, { subdomain: 'agents', health: '/?2', replaces: planId })
  const change = structured(await agent.use('plan_exposure', changing))
  for (const [tool, args] of [
    ['apply_plan', { planId: change.planId }],
    ['remove_exposure', { host }],
    ['remove_exposure', { planId }],
    ['repair_exposure', { host, confirmOwner: 'bob' }],
    ['accept_exposure', { host }],
    ['renew_certificate', { host }],
  ] as const)
    expect(errorOf(await agent.use(tool, args)), tool).toMatchObject({
      code: 'owner_not_confirmed',
      owner: 'alice',
      nextAction: expect.stringContaining('confirmOwner'),
    })
  expect((await lab.call({ path: `/api/deploy/plans/${planId}` })).body.state).toBe('applied')
  expect(structured(await agent.use('remove_exposure', { host, confirmOwner: 'alice' }))).toMatchObject({ host })
  const own = structured(await agent.use('plan_exposure', planRequest(lab, { subdomain: 'bobs', note: 'Mine' })))
  expect(own.request).toMatchObject({ owner: 'bob', note: 'Mine' })
  structured(await agent.use('apply_plan', { planId: own.planId }))
  structured(await agent.use('remove_exposure', { host: 'bobs.lab.test' }))
  // The API does what its capability says.
  const { planId: hers } = await applied(lab, { subdomain: 'hers-too', owner: 'alice' })
  expect((await run(lab, hers, 'remove')).status).toBe(200)
})
