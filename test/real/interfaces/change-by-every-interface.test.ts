import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { launcher } from '../../../lab/checkout.ts'
import { startWebBackend, type WebBackend } from '../../support/backends/web-backend.ts'
import { zoneRecords } from '../../support/dns/zone-transfer.ts'
import { visit } from '../../support/edge/visitor.ts'
import { errorOf, startAgentHere, structured } from '../../support/http/agent.ts'
import { invariants, planOf } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { command } from '../../support/programs/command.ts'
import { onTerminal } from '../../support/programs/pseudo-terminal.ts'

/** A change of an applied exposure through the built command and through the tools for agents. */
let lab: TestLab
let other: WebBackend
beforeAll(async () => {
  lab = await borrowLab()
  other = await startWebBackend(lab, (_request, response) => response.end('the other'))
})
afterEach(() => invariants(lab))
afterAll(async () => {
  await other?.[Symbol.asyncDispose]()
  await lab?.stop()
})

const at = (url: string, ...args: string[]) => command([...args, '--url', url])
const upArgs = (subdomain: string, port: number) => [
  ...['up', `${subdomain}.${lab.description.zone}`, '--server', '25', '--port', String(port), '--no-tls'],
]
const served = async (subdomain: string) =>
  (await visit(lab.description.edges.primary, { host: `${subdomain}.${lab.description.zone}`, path: '/healthz' })).text
const plansOf = async (host: string): Promise<{ planId: string; state: string }[]> =>
  (await lab.call({ path: '/api/deploy/plans?limit=200' })).body.plans.filter(
    (plan: { host: string }) => plan.host === host,
  )

test('up a second time with another port shows before and after, asks, and changes the exposure', async () => {
  const { inside, outside, zone } = lab.description
  const host = `changed-twice.${zone}`
  const first = await at(inside, ...upArgs('changed-twice', 3000), '--yes')
  expect(first).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Steps: check → backup → proxy → dns → verify'),
  })
  const records = await zoneRecords(lab)

  const silent = await at(inside, ...upArgs('changed-twice', other.port))
  expect(silent).toMatchObject({
    code: 2,
    stdout: expect.stringContaining(`port        3000 → ${other.port}`),
    stderr: `drawbridge: Not a terminal: pass --yes to change ${host} without a prompt.\n`,
  })
  const line = `${launcher()} ${upArgs('changed-twice', other.port).join(' ')} --url ${inside}; echo "code $?"`
  const declined = await onTerminal(line, { input: 'n\n' })
  expect(declined).toContain(`Change ${host}? [y/N]`)
  expect(declined).toContain('code 8')
  expect(await served('changed-twice')).not.toBe('the other')
  expect(await at(outside, ...upArgs('changed-twice', other.port), '--yes', '--json')).toMatchObject({ code: 3 })

  const second = await at(inside, ...upArgs('changed-twice', other.port), '--yes')
  expect(second).toMatchObject({ code: 0, stderr: '' })
  expect(second.stdout).toMatch(/Replaces plan_\w{26}\n {2}server {6}25 \(unchanged\)/)
  expect(second.stdout).toContain('expires     never (unchanged)')
  expect(second.stdout).toContain('Steps: check → backup → proxy → verify')
  expect(await served('changed-twice')).toBe('the other')
  expect(await zoneRecords(lab)).toEqual(records)
  const states = (await plansOf(host)).map(({ state }) => state)
  expect(states.toSorted()).toEqual(['applied', 'planned', 'planned', 'replaced'])
  expect((await at(inside, 'plans')).stdout).toMatch(new RegExp(`${host} +replaced`))

  const third = await at(inside, ...upArgs('changed-twice', other.port))
  expect(third).toMatchObject({ code: 0, stdout: `Nothing to change: ${host} is already exposed with these values.\n` })
  expect(await at(inside, 'down', host, '--yes')).toMatchObject({ code: 0 })
}, 120_000)

test('plan --replaces, and an expiry that the change takes away', async () => {
  const { inside } = lab.description
  await at(inside, ...upArgs('changed-planned', 3000), '--expires-in', '2h', '--yes')
  const host = `changed-planned.${lab.description.zone}`
  const [former] = await plansOf(host)
  const [, ...args] = upArgs('changed-planned', other.port)
  const { code, stdout } = await at(inside, 'plan', ...args, '--replaces', former?.planId ?? '')
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/expires .* UTC \(in 2h\) → never/) })
  const next = stdout.match(/drawbridge (apply) (plan_\w+)/)?.slice(1) ?? []
  expect(await at(inside, ...next)).toMatchObject({ code: 0 })
  expect((await planOf(lab, former?.planId ?? '')).state).toBe('replaced')
  expect(await at(inside, 'down', host, '--yes')).toMatchObject({ code: 0 })
}, 60_000)

test('an agent is told how to change an exposure, and does so', async () => {
  const { use, close } = await startAgentHere(lab.description.inside)
  try {
    const { zone } = lab.description
    const request = { zone, subdomain: 'agent', server: '25', port: 3000, health: '/healthz', tls: false }
    const former = structured(await use('plan_exposure', request))
    await use('apply_plan', { planId: former.planId })
    const wanted = { ...request, port: other.port }
    expect(errorOf(await use('plan_exposure', wanted))).toMatchObject({
      code: 'dns_name_taken',
      nextAction: expect.stringContaining('check_host'),
    })
    const { planId: replaces } = structured(await use('check_host', { host: `agent.${zone}` }))
    expect(replaces).toBe(former.planId)
    const plan = structured(await use('plan_exposure', { ...wanted, replaces }))
    expect(plan.steps).toEqual(['check', 'backup', 'proxy', 'verify'])
    expect(structured(await use('apply_plan', { planId: plan.planId }))).toMatchObject({ state: 'applied' })
    expect(await served('agent')).toBe('the other')
    expect(structured(await use('remove_exposure', { planId: plan.planId }))).toMatchObject({ state: 'removed' })
  } finally {
    await close()
  }
}, 60_000)
