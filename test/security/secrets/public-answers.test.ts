import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toProblem } from '../../../src/http/guard/problem.ts'
import { publicProblem } from '../../../src/http/guard/public-view.ts'
import { Problem } from '../../../src/model/errors.ts'
import type { HostStatus } from '../../../src/model/host-status.ts'
import { StoreUnavailable } from '../../../src/store/ports/store.ts'
import { NOW, samplePlan, sampleRun } from '../../contract/samples.ts'
import { type Backend, startBackend } from '../../support/backends/backend.ts'
import { putCheckedHosts, sampleStatus } from '../../support/http/host-status.ts'
import { startService, type TestService } from '../../support/http/service.ts'
import { healthy } from '../../support/http/site.ts'
import { until } from '../../support/until.ts'

/** What the public is told holds nothing of the inside. Callers inside are told all of it. */
const CANARY = 'canary-inside'
const DNS_PORT = 59
const { planId } = samplePlan()
let api: TestService
let backend: Backend

beforeAll(async () => {
  api = await startService({ dns: { address: '127.0.0.1', port: DNS_PORT } })
  backend = await startBackend((socket) => socket.end(healthy), `${api.network}.25`)
  const { store, monitor } = api.service
  // As if another instance asked the hosts: this one reads along.
  await store.takeLease('monitor', 'another', Date.now(), 3_600_000)
  await putHosts(1, 'RUNNING')
  monitor.start()
  await until('the hosts are known', async () => (await api.call({ path: '/api/hosts' })).body.total === 2)
})

afterAll(async () => {
  await api?.service.monitor.stop()
  await api?.stop()
  await backend?.[Symbol.asyncDispose]()
})

const putHosts = (version: number, badge: HostStatus['badge']) =>
  putCheckedHosts(
    api.service.store,
    [
      sampleStatus({ host: 'made.lab.test', badge, changed: 2 * version }),
      sampleStatus({ host: 'foreign.lab.test', badge, changed: 2 * version - 1, managed: false, planId: null }),
    ],
    version,
  )

function follow(url: string, from: string): Promise<{ text: () => string; close: () => void }> {
  return new Promise((opened, failed) => {
    const asking = request(url, { localAddress: from, agent: false })
    asking.on('error', failed)
    asking.on('response', (response) => {
      let text = ''
      response.on('error', () => undefined)
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      opened({ text: () => text, close: () => asking.destroy() })
    })
    asking.end()
  })
}

const told = async (path: string) => {
  const [inside, outside] = await Promise.all(['inside', 'outside'].map((from) => api.call({ path, from })))
  return { inside: inside?.text ?? '', outside: outside?.text ?? '', body: outside?.body }
}

test('a plan that DNS does not answer for names no DNS server', async () => {
  const body = { zone: 'lab.test', subdomain: 'x', server: '25', port: backend.port, health: '/', tls: true }
  const [inside, outside] = await Promise.all(
    ['inside', 'outside'].map((from) => api.call({ path: '/api/deploy/plan', body, from })),
  )
  expect([inside?.body.code, outside?.body.code]).toEqual(['dns_unavailable', 'dns_unavailable'])
  expect(inside?.text).toContain(`127.0.0.1:${DNS_PORT}`)
  expect(outside?.text).not.toContain('127.0.0.1')
  expect(outside?.body.detail).toBe(
    'DNS could not tell whether the name is free: the DNS server gave no reliable answer.',
  )
})

test('a plan by its id, its runs and their events name no key, file, line or directory', async () => {
  const { store } = api.service
  const run = sampleRun({ state: 'rolled_back', finishedAt: NOW })
  const check = { name: 'certificate', status: 'passed', source: 'acme', names: ['shop.lab.test'] } as const
  await store.insertPlan(
    samplePlan({
      checks: [
        { ...check, detail: `Can be issued: ${CANARY}.`, directory: `https://${CANARY}/dir`, budget: { of: CANARY } },
      ],
      changes: [
        { kind: 'certificate', action: 'issue', names: ['shop.lab.test'], directory: `https://${CANARY}/dir` },
        {
          kind: 'proxy',
          action: 'create',
          serverName: 'shop.lab.test',
          target: 'http://192.168.45.25:80',
          https: true,
        },
      ],
    }),
  )
  await store.insertRun(run)
  const edge = { server: '23', ok: true, detail: CANARY, httpStatus: 200, latencyMs: 1 }
  const image = { primary: edge, secondary: { ...edge, server: '73', ok: false, optional: true } }
  const entry = { runId: run.runId, at: NOW }
  await store.appendJournal({ ...entry, step: 'run', mark: 'intent' }, run.fence)
  await store.appendJournal({ ...entry, step: 'verify', mark: 'verdict', image }, run.fence)
  await store.appendJournal({ ...entry, step: 'dns', mark: 'failed', detail: `TSIG key ${CANARY}` }, run.fence)
  await store.appendJournal({ ...entry, step: 'proxy', mark: 'undo_failed', detail: `${CANARY}:7` }, run.fence)
  await store.appendJournal({ ...entry, step: 'run', mark: 'done', image: { state: 'blocked' } }, run.fence)
  for (const path of [`/api/deploy/plans/${planId}`, `/api/deploy/plans/${planId}/events`]) {
    const { inside, outside } = await told(path)
    expect(inside.split(CANARY).length).toBeGreaterThan(3)
    expect(outside).not.toContain(CANARY)
    expect(inside).toContain('undo_failed')
    expect(outside).not.toContain('undo_failed')
  }
  const { outside } = await told(`/api/deploy/plans/${planId}/events`)
  expect(outside).toMatch(/^id: \S+\nevent: end\ndata: .*"state":"blocked"/)
  expect((await told(`/api/deploy/plans/${planId}`)).body.changes[1]).toEqual({
    ...{ kind: 'proxy', action: 'create', serverName: 'shop.lab.test', https: true },
  })
})

test('the problem of a run that failed tells which step, and not why', () => {
  const members = {
    steps: [{ name: 'dns', status: 'failed', ms: 1, detail: CANARY }],
    rollback: [{ name: 'proxy', status: 'undo_failed', ms: 1, detail: CANARY }],
    edgeSays: CANARY,
  }
  for (const code of [
    'apply_failed',
    'remove_failed',
    'renew_failed',
    'rollback_blocked',
    'dns_unavailable',
  ] as const) {
    const { message, members: shown } = publicProblem(new Problem(code, `It failed: ${CANARY}`, members))
    expect(`${message}${JSON.stringify(shown)}`).not.toContain(CANARY)
    expect(shown.rollback).toEqual([{ name: 'proxy', status: 'undo_failed', ms: 1 }])
  }
})

test('the public is not advised to send what only callers inside may send', () => {
  const nextAction = 'To change your own exposure, send the id of its applied plan as replaces.'
  const { members } = publicProblem(new Problem('dns_name_taken', 'The name is exposed.', { nextAction }))
  expect(members.nextAction).toBeUndefined()
})

test('the public is not told where the store is that cannot write', () => {
  const full = new StoreUnavailable(new Error('no space'), '/var/lib/somewhere')
  expect(toProblem(full, { network: 'public' }).message).toBe('The store cannot write: its disk is full.')
  expect(toProblem(full, { network: 'internal' }).message).toContain('/var/lib/somewhere')
})

test('a host that was not made here is not there for the public: neither alone, nor listed, counted or followed', async () => {
  for (const route of ['health', 'diagnose']) {
    const foreign = await told(`/api/${route}?host=foreign.lab.test`)
    const nobody = await told(`/api/${route}?host=nobody.lab.test`)
    expect(foreign.body).toEqual({ ...nobody.body, requestId: foreign.body.requestId })
    expect(foreign.body.code).toBe('host_not_found')
  }
  const { inside, body } = await told('/api/hosts')
  expect(JSON.parse(inside)).toMatchObject({ total: 2, counts: { RUNNING: 2 } })
  expect(body).toMatchObject({ total: 1, matched: 1, counts: { RUNNING: 1 }, hosts: [{ host: 'made.lab.test' }] })

  const streams = await Promise.all(
    [`${api.network}.10`, '127.0.0.1'].map((from) => follow(`${api.origin}/api/hosts/events`, from)),
  )
  await putHosts(2, 'DOWN')
  await until('both hear of the host that was made here', () =>
    streams.every(({ text }) => text().includes('made.lab.test')),
  )
  const [toInside, toOutside] = streams.map(({ text }) => text())
  expect(toInside).toContain('foreign.lab.test')
  expect(toOutside).not.toContain('foreign.lab.test')
  for (const { close } of streams) close()
})
