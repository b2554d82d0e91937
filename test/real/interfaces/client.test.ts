import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createClient,
  type DrawbridgeClient,
  type ProgressEvent,
  Refusal,
  Unreachable,
} from '../../../src/client/index.ts'
import { planRequest } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'

let lab: TestLab
let inside: DrawbridgeClient
let outside: DrawbridgeClient
/** Everything that went over the wire from this client, credentials and all. */
const sent: { path: string; headers: Headers }[] = []
beforeAll(async () => {
  lab = await borrowLab()
  const recording: typeof fetch = (input, init) => {
    const request = new Request(input, init)
    sent.push({ path: new URL(request.url).pathname, headers: request.headers })
    return fetch(request)
  }
  inside = createClient(lab.description.inside, { fetch: recording })
  outside = createClient(lab.description.outside)
})
afterAll(() => lab?.stop())

const wanted = (subdomain: string) => planRequest(lab, { subdomain }) as Parameters<DrawbridgeClient['plan']>[0]

test('the whole life of an exposure, its steps told on the way and its right never shown', async () => {
  expect((await inside.policy()).caller.network).toBe('internal')
  const plan = await inside.plan({ ...wanted('typed'), expiresIn: 300 })
  const steps: ProgressEvent[] = []
  const applied = await inside.applyPlan(plan.planId, { onProgress: (event) => steps.push(event) })
  expect(applied).toMatchObject({ state: 'applied', host: 'typed.lab.test', warnings: [] })
  expect(steps.map(({ step, name }) => `${step} ${name}`)).toEqual(
    expect.arrayContaining(['run started', 'proxy done', 'dns done', 'verify done', 'run end']),
  )
  expect((await inside.getPlan(plan.planId)).state).toBe('applied')
  expect((await inside.listPlans({ limit: '1' })).plans[0]?.planId).toBe(plan.planId)
  const later = await inside.extendPlan(plan.planId, 600)
  expect(Date.parse(later.expiresAt)).toBeGreaterThan(Date.now())
  const back: ProgressEvent[] = []
  const removed = await inside.removePlan(plan.planId, { onProgress: (event) => back.push(event) })
  expect(removed.state).toBe('removed')
  expect(new Set(back.map(({ action }) => action))).toEqual(new Set(['remove']))
  expect(back.at(-1)).toMatchObject({ name: 'end', state: 'removed' })
  const { lines } = await inside.audit({ limit: '7' })
  expect(lines.map(({ action }) => action)).toEqual(['plan', 'token', 'apply', 'token', 'extend', 'token', 'remove'])
  const spent = sent.filter(({ headers }) => headers.has('x-deploy-capability')).map(({ path }) => path)
  expect(spent).toEqual(['/api/deploy/apply', '/api/deploy/extend', '/api/deploy/remove'])
  const capabilities = sent.flatMap(({ headers }) => headers.get('x-deploy-capability') ?? [])
  for (const capability of capabilities)
    expect(JSON.stringify([plan, applied, removed, steps, back, lines])).not.toContain(capability)
})

test.runIf(process.env.CAMPAIGN)('a refusal has its code, its advice and its checks', async () => {
  const refused: unknown = await outside.plan({ ...wanted('ill'), server: '253' }).catch((error) => error)
  expect(refused).toBeInstanceOf(Refusal)
  expect(refused).toMatchObject({
    code: 'backend_unhealthy',
    status: 422,
    retryable: true,
    problem: { checks: [{ status: 'failed' }, {}, {}, {}] },
  })
  const { planId } = await inside.plan(wanted('guarded'))
  await expect(outside.applyPlan(planId)).rejects.toMatchObject({ code: 'internal_network_required' })
  await expect(outside.events().next()).rejects.toMatchObject({ code: 'internal_network_required' })
})

test('it is there for others under its own name, with its types', async () => {
  const program = "import('drawbridge/client').then(({ createClient }) => console.log(typeof createClient))"
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', program])
  expect(stdout).toBe('function\n')
  expect(existsSync('dist/src/client/index.d.ts')).toBe(true)
})

test('who is not there, or is somebody else, is unreachable', async () => {
  await expect(createClient('http://127.0.0.1:9').policy()).rejects.toBeInstanceOf(Unreachable)
  const { address, port } = lab.description.backends[0] ?? { address: '', port: 0 }
  await expect(createClient(`http://${address}:${port}`).policy()).rejects.toBeInstanceOf(Unreachable)
})
