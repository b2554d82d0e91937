import { request } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startWebBackend, type WebBackend } from '../../support/backends/web-backend.ts'
import { type EventStream, follow } from '../../support/http/event-stream.ts'
import { granted, invariants, planned, planOf, removed, run } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { until } from '../../support/until.ts'

/** Runs that take a while, because what comes through the edge is answered late: time to look on or hang up. */
let lab: TestLab
let backend: WebBackend
/** What comes through the edge is answered when this has resolved. */
let held = Promise.withResolvers<void>()
beforeAll(async () => {
  lab = await borrowLab()
  backend = await startWebBackend(lab, async (_request, response) => {
    await held.promise
    response.end('through the edge\n')
  })
})
afterAll(async () => {
  await backend?.[Symbol.asyncDispose]()
  await lab?.stop()
})
beforeEach(() => {
  held = Promise.withResolvers()
})

const async = { prefer: 'respond-async' }
const slowPlan = (subdomain: string) => planned(lab, { subdomain, port: backend.port })
const told = ({ events }: EventStream) => events.map(({ event, data }) => `${data.step} ${event}`)
const WHOLE_APPLY = [
  'run started',
  ...['check', 'backup', 'proxy', 'dns', 'verify'].flatMap((step) => [`${step} started`, `${step} done`]),
  'run end',
]
/** A step that learns more on its way writes its intent again. */
const once = (lines: readonly string[]) => [...new Set(lines)]

test('respond-async is answered at once, and the run can be followed to its end', async () => {
  const { planId } = await slowPlan('followed')
  const answer = await run(lab, planId, 'apply', async)
  expect(answer.status).toBe(202)
  expect(answer.headers).toMatchObject({
    location: `/api/deploy/plans/${planId}`,
    'preference-applied': 'respond-async',
  })
  expect(answer.body).toEqual({
    planId,
    host: 'followed.lab.test',
    progress: `/api/deploy/plans/${planId}/events`,
  })
  expect((await planOf(lab, planId)).state).toBe('applying')
  const stream = follow(lab, answer.body.progress)
  held.resolve()
  const end = await stream.seen('end', 'run')
  expect(end.data).toMatchObject({ action: 'apply', state: 'applied', at: expect.any(String) })
  expect(stream.contentType()).toMatch(/^text\/event-stream/)
  expect(once(told(stream))).toEqual(WHOLE_APPLY)
  await until('the stream ends with the run', stream.hasEnded)
  expect((await planOf(lab, planId)).state).toBe('applied')
  const removal = await run(lab, planId, 'remove', async)
  expect(removal.status).toBe(202)
  const after = follow(lab, removal.body.progress)
  expect((await after.seen('end', 'run')).data).toMatchObject({ action: 'remove', state: 'removed' })
  await invariants(lab)
})

test('whoever comes back with Last-Event-ID misses nothing and sees nothing twice', async () => {
  const { planId } = await slowPlan('resumed')
  const { body } = await run(lab, planId, 'apply', async)
  const first = follow(lab, body.progress)
  const { id } = await first.seen('done', 'proxy')
  first.close()
  const seenFirst = first.events.slice(0, first.events.findIndex((event) => event.id === id) + 1)
  const second = follow(lab, body.progress, id)
  held.resolve()
  await second.seen('end', 'run')
  const ids = [...seenFirst, ...second.events].map((event) => event.id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(once([...seenFirst, ...second.events].map(({ event, data }) => `${data.step} ${event}`))).toEqual(WHOLE_APPLY)
  await removed(lab, planId)
})

test('a run that fails is followed back to its beginning', async () => {
  await using sick = await startWebBackend(lab, (_request, response) => response.writeHead(500).end())
  const { planId } = await planned(lab, { subdomain: 'failing', port: sick.port })
  const { body } = await run(lab, planId, 'apply', async)
  const stream = follow(lab, body.progress)
  expect((await stream.seen('end', 'run')).data.state).toBe('rolled_back')
  expect(once(told(stream))).toEqual([
    ...WHOLE_APPLY.slice(0, -2),
    'verify failed',
    ...['verify', 'dns', 'proxy', 'backup', 'check'].flatMap((step) => [`${step} undoing`, `${step} undone`]),
    'run end',
  ])
  expect((await planOf(lab, planId)).lastRun).toMatchObject({ action: 'apply', state: 'rolled_back' })
})

test('there are no events of a plan that is not there', async () => {
  const answer = await lab.call({ path: `/api/deploy/plans/plan_${'0'.repeat(26)}/events` })
  expect([answer.status, answer.body.code]).toEqual([404, 'plan_not_found'])
})

test('a client that hangs up does not stop the run', async () => {
  const { planId } = await slowPlan('abandoned')
  const capability = await granted(lab, planId)
  const { hostname, port } = new URL(lab.description.api)
  const body = JSON.stringify({ planId })
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-deploy-capability': capability,
  }
  const options = { host: hostname, port, method: 'POST', localAddress: lab.description.callers.internal, headers }
  const asking = request({ ...options, path: '/api/deploy/apply', agent: false })
  asking.on('error', () => undefined)
  asking.end(body)
  const stream = follow(lab, `/api/deploy/plans/${planId}/events`)
  await stream.seen('started', 'proxy')
  asking.destroy()
  held.resolve()
  expect((await stream.seen('end', 'run')).data.state).toBe('applied')
  await invariants(lab)
  await removed(lab, planId)
})
