import { type ClientRequest, type IncomingHttpHeaders, request } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../../src/client/index.ts'
import { putCheckedHosts, sampleStatus } from '../../support/http/host-status.ts'
import { rawRequest, sendRaw } from '../../support/http/raw-socket.ts'
import { type Site, startSite } from '../../support/http/site.ts'
import { until } from '../../support/until.ts'

/** Somebody opens all the streams and asks for all the rows there are. */
const HOSTS = 600
const proxy = '127.0.0.99'
let site: Site
let planEvents: string
const open: ClientRequest[] = []

beforeAll(async () => {
  site = await startSite({ settings: `trustedProxies: [${proxy}]` })
  const { store, monitor } = site.api.service
  planEvents = `/api/deploy/plans/${await site.planId()}/events`
  const statuses = Array.from({ length: HOSTS }, (_, i) => sampleStatus({ host: `h${i}.lab.test` }))
  await putCheckedHosts(store, statuses, 1)
  // As if another instance asked the hosts: this one reads along.
  await store.takeLease('monitor', 'another', Date.now(), 3_600_000)
  monitor.start()
  await until('all hosts are known', async () => (await hosts('?limit=1')).total === HOSTS)
})

afterAll(async () => {
  await site?.api.service.monitor.stop()
  await site?.stop()
})

afterEach(async () => {
  for (const one of open.splice(0)) one.destroy()
  // The service has heard of every close when it lets the same address in again.
  await until('all places are free', async () => (await stream('/api/hosts/events', '127.0.0.1')).status === 200)
  for (const one of open.splice(0)) one.destroy()
})

const hosts = async (query: string) => (await site.api.call({ path: `/api/hosts${query}` })).body

interface Opened {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: () => string
}

function stream(path: string, from: string, headers: Record<string, string> = {}): Promise<Opened> {
  const { hostname, port } = new URL(site.api.origin)
  return new Promise((opened, failed) => {
    const asking = request({ host: hostname, port, path, localAddress: from, agent: false, headers })
    asking.on('error', failed)
    asking.on('response', (response) => {
      let text = ''
      response.on('error', () => undefined)
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      opened({ status: response.statusCode ?? 0, headers: response.headers, text: () => text })
    })
    open.push(asking)
    asking.end()
  })
}

async function expectRefused(refused: Opened): Promise<void> {
  expect(refused.status).toBe(429)
  await until('the problem has come', () => refused.text().endsWith('}'))
  const body = JSON.parse(refused.text())
  expect(body.code).toBe('rate_limited')
  expect(refused.headers['retry-after']).toBe(String(body.retryAfter))
}

describe('event streams', () => {
  test('of all kinds together: an address has 50, and a place that is given back is free', async () => {
    const inside = `${site.api.network}.10`
    const kinds = [planEvents, '/api/hosts/events', '/api/events']
    for (let i = 0; i < 50; i++) expect((await stream(kinds[i % 3] ?? '', inside)).status).toBe(200)
    for (const kind of kinds) await expectRefused(await stream(kind, inside))
    expect((await stream(planEvents, `${site.api.network}.11`)).status).toBe(200)
    open[0]?.destroy()
    await until('the place is free', async () => (await stream(planEvents, inside)).status === 200)
  })

  test('one public address has 50 of a plan', async () => {
    for (let i = 0; i < 50; i++) expect((await stream(planEvents, '127.0.0.3')).status).toBe(200)
    await expectRefused(await stream(planEvents, '127.0.0.3'))
  })

  test('a /64 of IPv6 counts as one address', async () => {
    const from = (address: string) => stream(planEvents, proxy, { 'x-forwarded-for': address })
    for (let i = 0; i < 50; i++) expect((await from(`2001:db8:0:1::${i.toString(16)}`)).status).toBe(200)
    await expectRefused(await from('2001:db8:0:1:ffff::1'))
    expect((await from('2001:db8:0:2::1')).status).toBe(200)
  })

  test('the public has at most half of all, so that callers inside still get theirs', async () => {
    const from = (i: number) => stream('/api/hosts/events', `127.0.1.${1 + (i % 10)}`)
    for (let i = 0; i < 500; i += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, more) => from(i + more)))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    }
    await expectRefused(await stream(planEvents, '127.0.0.4'))
    expect((await stream(planEvents, `${site.api.network}.10`)).status).toBe(200)
  })

  test('has an end for whoever asks for its headers only', async () => {
    for (const path of [planEvents, '/api/hosts/events', '/api/hosts/changes', '/api/events']) {
      const { statuses } = await sendRaw(
        site.api.origin,
        `${site.api.network}.12`,
        rawRequest(site.api.origin, `HEAD ${path} HTTP/1.1`),
      )
      expect([path, statuses]).toEqual([path, [405]])
    }
  })

  test('a plan that is not there takes no place', async () => {
    const nowhere = `/api/deploy/plans/plan_${'0'.repeat(26)}/events`
    for (let i = 0; i < 60; i++) expect((await stream(nowhere, '127.0.0.5')).status).toBe(404)
  })
})

describe('lists', () => {
  test('have at most 500 rows, and the cursor leads to the rest', async () => {
    const first = await hosts('?limit=10000')
    expect(first.hosts).toHaveLength(500)
    const second = await hosts(`?limit=10000&cursor=${first.nextCursor}`)
    expect(second).toMatchObject({ matched: HOSTS, nextCursor: null })
    const names = [...first.hosts, ...second.hosts].map(({ host }: { host: string }) => host)
    expect(new Set(names).size).toBe(HOSTS)
  })

  test('the audit, too', async () => {
    const { store } = site.api.service
    for (let i = 0; i < HOSTS; i++) {
      await store.appendAudit({ at: i, actor: 'test', network: 'self', action: 'prune', outcome: 'ok' })
    }
    const { body } = await site.api.call({ path: '/api/audit?after=0&limit=1000' })
    expect(body.lines).toHaveLength(500)
    expect(body.nextAfter).toBe(body.lines.at(-1).seq)
    const newest = (await site.api.call({ path: '/api/audit?limit=1000' })).body
    expect(newest.lines.at(-1).seq).toBe(newest.head)
  })

  test('clients turn the pages', async () => {
    const from = `${site.api.network}.10`
    const client = createClient(site.api.origin, {
      fetch: async (input) => {
        const { pathname, search } = new URL((input as Request).url)
        const { status, text } = await site.api.call({ path: `${pathname}${search}`, from })
        return new Response(text, { status, headers: { 'content-type': 'application/json' } })
      },
    })
    expect((await client.allHosts()).hosts).toHaveLength(HOSTS)
    expect((await client.allHosts({ limit: '550', sort: 'badge' })).hosts).toHaveLength(550)
    expect((await client.allHosts({ limit: '7' })).hosts).toHaveLength(7)
    await expect(client.allHosts({ limit: 'many' })).rejects.toMatchObject({ code: 'invalid_request' })
    const { lines, head } = await client.allAudit({ limit: '550' })
    expect([lines.length, lines.at(-1)?.seq]).toEqual([550, head])
    expect((await client.allAudit({ limit: '5' })).lines).toHaveLength(5)
  })
})
