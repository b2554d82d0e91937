import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { follow } from '../../support/http/event-stream.ts'
import { applied, planned, planRequest, removed, run } from '../../support/lab/exposure.ts'
import { housekeeping } from '../../support/lab/housekeeping.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { withStore } from '../../support/lab/lab-store.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { command } from '../../support/programs/command.ts'
import { until } from '../../support/until.ts'

let lab: TestLab
beforeAll(async () => {
  lab = await borrowLab()
})
afterAll(() => lab?.stop())

const typesOf = ({ events }: ReturnType<typeof follow>, host: string) =>
  events.filter(({ event, data }) => event !== 'host.badge' && data.data.host === host).map(({ event }) => event)

test('every end of a run and every refused plan is told as it happens', async () => {
  const stream = follow(lab, '/api/events')
  await until('the stream is open', () => stream.contentType() !== undefined)
  const refused = await lab.call({
    path: '/api/deploy/plan',
    body: planRequest(lab, { subdomain: 'events-refused', server: '253' }),
  })
  expect(refused.body.code).toBe('backend_unhealthy')
  const { planId, host } = await applied(lab, { subdomain: 'events-told' })
  await removed(lab, planId)
  const brief = await applied(lab, { subdomain: 'events-brief', expiresIn: 300 })
  await withStore(lab, (store) => store.setExposureExpiry(brief.host, brief.planId, Date.now()))
  await housekeeping(lab, 'expire')
  await until('the short-lived one has gone', () => typesOf(stream, brief.host).includes('exposure.expired'))
  expect(typesOf(stream, 'events-refused.lab.test')).toEqual(['plan.refused'])
  expect(typesOf(stream, host)).toEqual(['exposure.applied', 'exposure.removed'])
  expect(typesOf(stream, brief.host)).toEqual(['exposure.applied', 'exposure.expired'])
  expect(
    stream.events.map(({ data }) => data).find(({ type, data }) => type === 'exposure.applied' && data.host === host),
  ).toEqual({
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

test('the newest events are told at once', async () => {
  const recent = async (query: string) => (await lab.call({ path: `/api/events/recent?${query}` })).body
  const { planId, host } = await applied(lab, { subdomain: 'recent' })
  const { events, head } = await recent('limit=500')
  expect(events.at(-1).seq).toBe(head)
  expect((await recent(`type=exposure.applied&host=${host}&limit=1`)).events).toMatchObject([
    { type: 'exposure.applied', data: { host, planId } },
  ])
  const newest = await recent('limit=1')
  const before = await recent(`limit=1&before=${newest.nextBefore}`)
  expect([newest.nextBefore, before.events[0].seq]).toEqual([newest.events[0].seq, newest.events[0].seq - 1])
  for (const path of ['/api/events/recent?type=weather', '/api/events?type=exposure.applied,weather']) {
    const nonsense = await lab.call({ path })
    expect([nonsense.status, nonsense.body.errors[0].field]).toEqual([400, 'type'])
  }
  await removed(lab, planId)
})

test('a command finds the service of this machine by the state of a lab, or by the configuration of the service', async () => {
  // The configuration names the relays of the lab as publicUrls, and the one inside sees the caller as internal.
  const nobody = { DRAWBRIDGE_URL: '', XDG_CONFIG_HOME: lab.state }
  const found = async (environment: Record<string, string>) =>
    (await command(['policy'], { environment: { ...nobody, ...environment } })).stdout
  const byLab = await found({ DRAWBRIDGE_LAB_STATE: lab.state })
  expect(byLab).toContain(` at ${inside()}`)
  expect(byLab).toContain('internal network')
  expect(await found({ DRAWBRIDGE_CONFIG: join(lab.state, 'drawbridge.yaml') })).toContain(` at ${inside()}`)
})

const MISTYPED: readonly (readonly [line: string, code: number, told: RegExp])[] = [
  ['health nobody', 3, /host_not_found/],
  ['up hello --server 99 --port 3000 --yes', 3, /Allowed servers: 23, 25, 253/],
  ['up hello.other.test --server 25 --port 3000 --yes', 3, /Managed zones: lab\.test/],
  ['plan lab.test --server 25 --port 3000', 2, /lab\.test is a zone\. Name a host in it, such as hello\.lab\.test/],
  ['plan a.b.lab.test --server 25 --port 3000', 2, /such as a-b\.lab\.test/],
  ['plan hello_x --server 25 --port 3000', 2, /hello_x\.lab\.test is not a DNS name/],
  ['plan hello --server 25 --port', 2, /--help/],
  ['plan hello --server 25 --port 3000 --health healthz', 3, /--health must be a path such as \/healthz/],
  ['plan hello --server 25 --port 3000 --expires-in 10s', 3, /--expires-in must be at least 5m/],
  ['plan hello --server 25 --port 3000 --max-body 5x', 3, /--max-body must be 0 or a size such as 50m/],
  ['plan hello --server 25 --port 3000 --allow 10.0.0.1/33', 3, /--allow must be a network/],
  ['apply hello.lab.test', 2, /drawbridge up HOST/],
  ['status --badge nonsense', 2, /States: RUNNING/],
  ['status --limit x', 3, /--limit must be a whole number from 1 to 10000/],
  ['plans --limit x', 3, /--limit must be a whole number from 1 to 200/],
  ['audit --limit x', 3, /--limit must be a whole number from 1 to 1000/],
  ['events --type weather', 3, /--type must be one or more of/],
  ['wait nobody.lab.test --timeout 1s', 1, /not exposed after 1s/],
  ['wait nobody.lab.test --for nonsense', 2, /States: RUNNING/],
  ['import /nowhere.yaml', 2, /file of exposures cannot be read/],
  ['stauts', 2, /Did you mean status\?/],
]

test('a mistyped command says what is wrong in the words of the command line, once, and changes nothing', async () => {
  const ended = await Promise.all(
    MISTYPED.map(async ([line, code, told]) => {
      const { stderr, code: is } = await command([...line.split(' '), '--url', inside()])
      return { line, code: is, asExpected: told.test(stderr) && is === code, stderr }
    }),
  )
  expect(ended.filter(({ asExpected }) => !asExpected)).toEqual([])
  const all = ended.map(({ stderr }) => stderr).join('')
  expect(all).not.toMatch(
    /\bexpiresIn|options\.\w|subdomain|API document|The request|\b(?:GET|POST) \/|\^[[(]|node:internal/,
  )
  for (const { line, stderr } of ended) {
    const told = stderr.split('\n').map((text) => text.replace(/^ *(?:why|next)? +/, ''))
    expect(new Set(told).size, line).toBe(told.length)
  }
})

const inside = () => lab.description.inside

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
  for (const path of ['/api/events', '/api/events/recent', '/api/audit', '/api/deploy/plans']) {
    const answer = await lab.call({ path, from: 'public' })
    expect([answer.status, answer.body.code]).toEqual([403, 'internal_network_required'])
  }
})
