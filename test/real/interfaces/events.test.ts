import { afterAll, beforeAll, expect, test } from 'vitest'
import { follow } from '../../support/http/event-stream.ts'
import { applied, planned, planRequest, removed, run } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { withStore } from '../../support/lab/lab-store.ts'
import { until } from '../../support/until.ts'

let lab: TestLab
beforeAll(async () => {
  lab = await startTestLab()
})
afterAll(() => lab?.stop())

const typesOf = ({ events }: ReturnType<typeof follow>, host: string) =>
  events.filter(({ event, data }) => event !== 'host.badge' && data.data.host === host).map(({ event }) => event)

test('every end of a run and every refused plan is told as it happens', async () => {
  const stream = follow(lab, '/api/events')
  await until('the stream is open', () => stream.contentType() !== undefined)
  const refused = await lab.call({ path: '/api/deploy/plan', body: planRequest(lab, { server: '253' }) })
  expect(refused.body.code).toBe('backend_unhealthy')
  const { planId, host } = await applied(lab, { subdomain: 'told' })
  await removed(lab, planId)
  const brief = await applied(lab, { subdomain: 'brief', expiresIn: 300 })
  await withStore(lab, (store) => store.setExposureExpiry(brief.host, brief.planId, Date.now()))
  await until('the short-lived one has gone', () => typesOf(stream, brief.host).includes('exposure.expired'))
  expect(typesOf(stream, 'hello.lab.test')).toEqual(['plan.refused'])
  expect(typesOf(stream, host)).toEqual(['exposure.applied', 'exposure.removed'])
  expect(typesOf(stream, brief.host)).toEqual(['exposure.applied', 'exposure.expired'])
  expect(stream.events.map(({ data }) => data).find(({ type }) => type === 'exposure.applied')).toEqual({
    id: expect.stringMatching(/^evt_/),
    seq: expect.any(Number),
    type: 'exposure.applied',
    timestamp: expect.stringMatching(/Z$/),
    data: {
      host,
      planId,
      facts: {
        ...{ url: `http://${host}:8080/`, server: '25', port: 3000, tls: false, expiresAt: null },
        actor: lab.description.callers.internal,
      },
    },
  })
  stream.close()
})

test('whoever comes back with the last id misses nothing; types and hosts can be chosen', async () => {
  const { planId, host } = await applied(lab, { subdomain: 'resumed' })
  const all = follow(lab, '/api/events?after=0')
  await until('the apply is told', () => typesOf(all, host).includes('exposure.applied'))
  all.close()
  const last = all.events.at(-1)?.id
  await removed(lab, planId)
  await lab.killService()
  const rest = follow(lab, '/api/events', last)
  await until('the removal is told', () => typesOf(rest, host).includes('exposure.removed'))
  rest.close()
  const ids = [...all.events, ...rest.events].map(({ id }) => Number(id))
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  expect(new Set(ids).size).toBe(ids.length)
  const chosen = follow(lab, `/api/events?after=0&type=exposure.removed&host=${host}`)
  await until('the removal is told', () => chosen.events.length > 0)
  expect(chosen.events.map(({ event }) => event)).toEqual(['exposure.removed'])
  chosen.close()
  const nonsense = await lab.call({ path: '/api/events?type=exposure.applied,weather' })
  expect([nonsense.status, nonsense.body.errors[0].field]).toEqual([400, 'type'])
})

test('the audit is read in pages, its newest lines first of all', async () => {
  const { planId } = await planned(lab, { subdomain: 'audited' })
  expect((await run(lab, planId)).status).toBe(200)
  const newest = (await lab.call({ path: '/api/audit?limit=3' })).body
  expect(newest.lines.map(({ action }: { action: string }) => action)).toEqual(['plan', 'token', 'apply'])
  expect(newest.lines.at(-1)).toMatchObject({ seq: newest.head, planId, outcome: 'ok', network: 'internal' })
  expect(newest.nextAfter).toBeNull()
  const first = (await lab.call({ path: '/api/audit?after=0&limit=2' })).body
  expect(first.lines.map(({ seq }: { seq: number }) => seq)).toEqual([1, 2])
  expect(first.nextAfter).toBe(2)
  expect(first.lines[1].previous).toBe(first.lines[0].hash)
  await removed(lab, planId)
})

test('nobody outside sees events or the audit', async () => {
  for (const path of ['/api/events', '/api/audit', '/api/deploy/plans']) {
    const answer = await lab.call({ path, from: 'public' })
    expect([answer.status, answer.body.code]).toEqual([403, 'internal_network_required'])
  }
})

test('open streams do not keep the service from ending', async () => {
  const stream = follow(lab, '/api/events')
  await until('the stream is open', () => stream.contentType() !== undefined)
  const begun = Date.now()
  await lab.restartService()
  expect(stream.hasEnded()).toBe(true)
  expect(Date.now() - begun).toBeLessThan(20_000)
})
