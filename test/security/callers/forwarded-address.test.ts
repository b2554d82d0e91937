import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import { startNginx } from '../../support/edge/nginx.ts'
import { call } from '../../support/http/call.ts'
import { rawRequest, sendRaw } from '../../support/http/raw-socket.ts'
import { type Site, startSite } from '../../support/http/site.ts'
import { stored } from '../../support/http/stored.ts'

/** Nobody becomes internal by saying so: not directly, not through a proxy, configured or not. */
const network = '127.81.45'
const trusted = `${network}.2`
const stranger = `${network}.3`
let site: Site
let planId: string
let nginx: { stop(): Promise<void> }
let proxies: { appending: string; overwriting: string; silent: string; stranger: string }

beforeAll(async () => {
  site = await startSite({ network, settings: `trustedProxies: [${trusted}, ${network}.4]` })
  planId = await site.planId()
  const origin = async () => `http://127.0.0.1:${await freePort()}`
  proxies = {
    appending: await origin(),
    overwriting: await origin(),
    silent: await origin(),
    stranger: await origin(),
  }
  const server = (listen: string, source: string, forwarded: string) => `server {
    listen ${new URL(listen).host};
    location / { proxy_pass ${site.api.origin}; proxy_bind ${source}; proxy_set_header X-Forwarded-For ${forwarded}; }
  }`
  nginx = await startNginx(
    [
      server(proxies.appending, trusted, '$proxy_add_x_forwarded_for'),
      server(proxies.overwriting, trusted, '$remote_addr'),
      server(proxies.silent, trusted, '""'),
      server(proxies.stranger, stranger, '$proxy_add_x_forwarded_for'),
    ].join('\n'),
    proxies.appending,
  )
})

afterAll(async () => {
  await nginx.stop()
  await site.stop()
})

const token = (origin: string, from: string, headers: Record<string, string | string[]> = {}) =>
  call(origin, { path: '/api/internal/token', body: { planId }, from, headers })

const expectPublic = (answer: { status: number; body: { code: string } }) =>
  expect([answer.status, answer.body.code]).toEqual([403, 'internal_network_required'])

const spoofed = `${network}.9`
const spoofs: [string, Record<string, string | string[]>][] = [
  ['X-Forwarded-For', { 'X-Forwarded-For': spoofed }],
  ['X-Forwarded-For as a chain', { 'X-Forwarded-For': `${spoofed}, ${spoofed}` }],
  ['X-Forwarded-For twice', { 'X-Forwarded-For': [spoofed, spoofed] }],
  ['X-Forwarded-For that ends with a trusted proxy', { 'X-Forwarded-For': `${spoofed}, ${trusted}` }],
  ['X-Forwarded-For named hop by hop', { 'X-Forwarded-For': spoofed, Connection: 'close, x-forwarded-for' }],
  ['nothing, but X-Forwarded-For named hop by hop', { Connection: 'close, x-forwarded-for' }],
  ['Forwarded', { Forwarded: `for=${spoofed}` }],
  ['X-Real-IP', { 'X-Real-IP': spoofed }],
  ['X-Client-IP and the like', { 'X-Client-IP': spoofed, 'True-Client-IP': spoofed, 'CF-Connecting-IP': spoofed }],
  ['all at once', { 'X-Forwarded-For': spoofed, Forwarded: `for=${spoofed}`, 'X-Real-IP': spoofed }],
]

describe('from outside', () => {
  test.each(spoofs)('%s, sent directly, stays public', async (_name, headers) => {
    expectPublic(await token(site.api.origin, '127.0.0.1', headers))
  })

  test.each(spoofs)('%s, sent through trusted proxies, stays public', async (_name, headers) => {
    expectPublic(await token(proxies.appending, '127.0.0.1', headers))
    expectPublic(await token(proxies.overwriting, '127.0.0.1', headers))
  })

  test.each(spoofs)('%s, sent through a proxy inside that is not configured, stays public', async (_name, headers) => {
    expectPublic(await token(proxies.stranger, '127.0.0.1', headers))
  })

  test('nothing of this issued a capability', async () => {
    expect(stored(site.api).capabilities).toBe(0)
  })
})

describe('a proxy that stands inside the internal network', () => {
  test('and is trusted does not lend its own address when it names nobody', async () => {
    expectPublic(await token(proxies.silent, '127.0.0.1'))
    expectPublic(await token(proxies.silent, `${network}.10`))
    expectPublic(await token(site.api.origin, trusted))
  })

  test.each([
    ['', 'nothing'],
    ['unknown', 'a word'],
    [`${network}.9:4711`, 'an address with a port'],
    [`${network}.9,`, 'a chain with an empty end'],
    [`${network}.9, nonsense`, 'a chain whose end is no address'],
    [trusted, 'only itself'],
    [`${trusted}, ${network}.4`, 'only trusted proxies'],
  ])('and is trusted does not lend it when it says %j (%s)', async (forwarded) => {
    expectPublic(await token(site.api.origin, trusted, { 'X-Forwarded-For': forwarded }))
  })

  test('and is not configured makes even callers inside public, told once with the line that would configure it', async () => {
    for (let i = 0; i < 3; i++) expectPublic(await token(proxies.stranger, `${network}.10`))
    const told = site.api
      .log()
      .split('\n')
      .filter((line) => line.includes(`"configure":"trustedProxies: [${stranger}]"`))
    expect(told).toHaveLength(1)
    expect(JSON.parse(told[0] ?? '')).toMatchObject({ level: 'warn', proxy: stranger })
  })
})

describe('through a trusted proxy', () => {
  test('a caller inside is internal, and the capability is bound to the caller, not to the proxy', async () => {
    for (const proxy of [proxies.appending, proxies.overwriting]) {
      const { status, body } = await token(proxy, `${network}.10`)
      expect(status).toBe(201)
      expect(body.boundTo.ip).toBe(`${network}.10`)
    }
  })

  test('the address nearest to us decides, however many header lines there are', async () => {
    const send = (...forwarded: string[]) => {
      const body = JSON.stringify({ planId })
      const lines = forwarded.map((value) => `X-Forwarded-For: ${value}`)
      const typed = ['Content-Type: application/json', `Content-Length: ${body.length}`]
      return sendRaw(
        site.api.origin,
        trusted,
        rawRequest(site.api.origin, 'POST /api/internal/token HTTP/1.1', ...lines, ...typed) + body,
      )
    }
    expect((await send(spoofed, '198.51.100.7')).statuses).toEqual([403])
    expect((await send(`${spoofed}, 198.51.100.7`, `${network}.4`)).statuses).toEqual([403])
    expect((await send('198.51.100.7', spoofed)).statuses).toEqual([201])
  })
})
