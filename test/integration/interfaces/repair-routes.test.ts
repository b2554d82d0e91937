import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Caller } from '../../../src/authorize/caller.ts'
import { createClient } from '../../../src/client/client.ts'
import { type App, createApp } from '../../../src/http/app.ts'
import { toProblem } from '../../../src/http/guard/problem.ts'
import { repairRoutes } from '../../../src/http/routes/repair.ts'
import type { Verification } from '../../../src/model/receipt.ts'
import { createLog } from '../../../src/runtime/log.ts'
import type { Exposer } from '../../../src/usecases/exposer.ts'

/** The routes of repair and accept on a stand-in for the use cases. `test/real/interfaces` has the whole way. */
const PLAN_ID = 'plan_00000000000000000000000001'
const FILE = '/etc/nginx/drawbridge-released/hello.lab.test.conf'
const AT = Date.UTC(2026, 0, 31, 12)
const verification: Verification = {
  primary: { server: '23', ok: true, detail: 'HTTP 200' },
  secondary: { server: '73', ok: false, optional: true, detail: 'The Secondary did not answer.' },
}
const steps = [{ name: 'proxy', status: 'done', ms: 3 }]
const DETAILED = steps.map((step) => ({ ...step, detail: 'of the inside' }))

let calls: unknown[]
let tls = true
let afters: object
let network: Caller['network']

const started = (call: unknown) => {
  calls.push(call)
  const plan = { planId: PLAN_ID, host: 'hello.lab.test', url: 'https://hello.lab.test/', request: { tls } }
  return { plan, result: Promise.resolve({ outcome: { kind: 'succeeded', steps: DETAILED }, afters, finishedAt: AT }) }
}
const exposer = {
  repair: async (planId: string, overwrite: boolean, _caller: unknown, { capability }: { capability: string }) =>
    started({ planId, overwrite, capability }),
  accept: async (planId: string, _caller: unknown, { capability }: { capability: string }) =>
    started({ planId, capability }),
} as unknown as Exposer

let app: App
beforeAll(async () => {
  app = createApp(createLog('silent', []), undefined)
  app.setErrorHandler((error, _request, reply) =>
    reply.status(400).send({ code: toProblem(error, { network: 'internal' }).code }),
  )
  app.addHook('onRequest', async (request) => {
    request.caller = { address: '127.0.0.1', network, unconfiguredProxy: false }
  })
  repairRoutes(app, exposer, async () => [])
  await app.ready()
})
beforeEach(() => {
  calls = []
  tls = true
  network = 'internal'
  afters = { verify: verification, proxy: { files: [], released: FILE } }
})
afterAll(() => app?.close())

const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
  const answer = await app.inject({ method: 'POST', url: path, payload: body, headers })
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
}

test('a repair answers with its steps and verification, and overwrites only on request', async () => {
  const { status, body } = await post('/api/deploy/repair', { planId: PLAN_ID }, { 'x-deploy-capability': 'cap_1' })
  expect([status, body]).toEqual([
    200,
    {
      planId: PLAN_ID,
      state: 'applied',
      host: 'hello.lab.test',
      url: 'https://hello.lab.test/',
      steps: DETAILED,
      verification,
      warnings: ['The Secondary did not answer.'],
      repairedAt: '2026-01-31T12:00:00.000Z',
    },
  ])
  await post('/api/deploy/repair', { planId: PLAN_ID, overwrite: true })
  expect(calls).toEqual([
    { planId: PLAN_ID, overwrite: false, capability: 'cap_1' },
    { planId: PLAN_ID, overwrite: true, capability: undefined },
  ])
})

test('from outside, as the legacy flow permits, the steps are told without their details', async () => {
  network = 'public'
  for (const action of ['repair', 'accept'])
    expect((await post(`/api/deploy/${action}`, { planId: PLAN_ID })).body.steps).toEqual(steps)
})

test('an accept names the file that serves the host from now on, and that nobody renews its certificate', async () => {
  const { status, body } = await post('/api/deploy/accept', { planId: PLAN_ID })
  expect([status, body]).toEqual([
    200,
    {
      planId: PLAN_ID,
      state: 'released',
      host: 'hello.lab.test',
      steps: DETAILED,
      file: FILE,
      warnings: ['Drawbridge no longer renews the certificate of hello.lab.test.'],
      releasedAt: '2026-01-31T12:00:00.000Z',
    },
  ])
  tls = false
  afters = {}
  expect((await post('/api/deploy/accept', { planId: PLAN_ID })).body).toMatchObject({ file: null, warnings: [] })
})

test.each(['repair', 'accept'])('%s answers 202 at once when the caller prefers so', async (action) => {
  const prefer = { prefer: 'wait=1, respond-async' }
  const { status, headers, body } = await post(`/api/deploy/${action}`, { planId: PLAN_ID }, prefer)
  expect([status, headers.location]).toEqual([202, `/api/deploy/plans/${PLAN_ID}`])
  expect(body).toEqual({
    planId: PLAN_ID,
    host: 'hello.lab.test',
    progress: `/api/deploy/plans/${PLAN_ID}/events`,
  })
})

test.each([
  ['repair', { planId: PLAN_ID, overwrite: 'yes' }],
  ['repair', { planId: PLAN_ID, force: true }],
  ['accept', { planId: PLAN_ID, overwrite: true }],
  ['accept', {}],
])('%s refuses %j', async (action, body) => {
  expect(await post(`/api/deploy/${action}`, body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  expect(calls).toEqual([])
})

test('the client spends a capability for the right action, and overwrites only on request', async () => {
  const sent: unknown[] = []
  const api = createClient('http://drawbridge.test', {
    fetch: async (input) => {
      const request = new Request(input)
      const { pathname } = new URL(request.url)
      const { prefer = undefined, 'x-deploy-capability': capability } = Object.fromEntries(request.headers)
      sent.push([pathname, await request.json(), capability ?? null, prefer ?? null])
      return Response.json({ capability: 'cap_2', header: 'x-deploy-capability' })
    },
  })
  await api.repairPlan(PLAN_ID)
  await api.beginRepair(PLAN_ID, { overwrite: true })
  await api.acceptPlan(PLAN_ID)
  await api.beginRun(PLAN_ID, 'accept')
  const token = (action: string) => ['/api/internal/token', { planId: PLAN_ID, action }, null, null]
  expect(sent).toEqual([
    token('repair'),
    ['/api/deploy/repair', { planId: PLAN_ID, overwrite: false }, 'cap_2', null],
    token('repair'),
    ['/api/deploy/repair', { planId: PLAN_ID, overwrite: true }, 'cap_2', 'respond-async'],
    token('accept'),
    ['/api/deploy/accept', { planId: PLAN_ID }, 'cap_2', null],
    token('accept'),
    ['/api/deploy/accept', { planId: PLAN_ID }, 'cap_2', 'respond-async'],
  ])
})
