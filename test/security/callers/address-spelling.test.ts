import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import { call } from '../../support/http/call.ts'
import { type GuardedRuns, guardedRuns } from '../../support/http/guarded-run.ts'
import { type Site, startSite } from '../../support/http/site.ts'

/** An address has one spelling here, whatever the socket or a proxy calls it. */
const network = '127.82.45'
const caller = `${network}.10`
const proxy = `${network}.2`
let site: Site
let runs: GuardedRuns
let planId: string

beforeAll(async () => {
  runs = guardedRuns()
  site = await startSite({
    network,
    mount: runs.mount,
    settings: `listen: { address: "::", port: ${await freePort()} }\ntrustedProxies: ["::ffff:${proxy}"]`,
  })
  planId = await site.planId()
})

afterAll(() => site.stop())

const tokenVia = (forwarded: string) =>
  call(site.api.origin, {
    path: '/api/internal/token',
    body: { planId },
    from: proxy,
    headers: { 'X-Forwarded-For': forwarded },
  })

describe('a listener for both families', () => {
  test('sees an IPv4 caller under its IPv4 address', async () => {
    const { status, body } = await site.token({ planId })
    expect(status).toBe(201)
    expect(body.boundTo.ip).toBe(caller)
  })

  test('takes an IPv4 caller outside for public', async () => {
    expect((await site.token({ planId }, 'outside')).body.code).toBe('internal_network_required')
  })

  test('takes its own IPv6 address for Host, and an IPv6 caller for public', async () => {
    const origin = `http://[::1]:${new URL(site.api.origin).port}`
    const policy = await fetch(`${origin}/api/policy`)
    expect(policy.status).toBe(200)
    expect(await policy.json()).toMatchObject({ caller: { network: 'public' } })
  })
})

describe('an address that a trusted proxy names', () => {
  const [a = 0, b = 0, c = 0, d = 0] = caller.split('.').map(Number)
  const hex = (high: number, low: number) => ((high << 8) | low).toString(16)

  test.each([
    caller,
    `::ffff:${caller}`,
    `::FFFF:${caller}`,
    `::ffff:${hex(a, b)}:${hex(c, d)}`,
    `0:0:0:0:0:ffff:${hex(a, b)}:${hex(c, d)}`,
  ])('%s is the canonical one, and the binding holds across spellings', async (spelling) => {
    const { status, body } = await tokenVia(spelling)
    expect(status).toBe(201)
    expect(body.boundTo.ip).toBe(caller)
    const headers = { 'x-deploy-capability': body.capability }
    const used = await site.api.call({ path: '/test/apply', body: { planId }, headers })
    expect([used.status, used.body]).toEqual([200, { ran: true }])
  })

  test.each([
    `${a}.${b}.${c}.0${d}`,
    `0${a.toString(8)}.${b}.${c}.${d}`,
    `0x${a.toString(16)}.${b}.${c}.${d}`,
    `${a}.${b}.${(c << 8) | d}`,
    String(((a << 24) | (b << 16) | (c << 8) | d) >>> 0),
    `${caller}.`,
    `[::ffff:${caller}]`,
    `::${caller}`,
    `64:ff9b::${caller}`,
    `２０`,
  ])('%s is no spelling of it', async (spelling) => {
    const { status, body } = await tokenVia(encodeURI(spelling))
    expect([status, body.code]).toEqual([403, 'internal_network_required'])
  })
})
