import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newCapability } from '../../../src/authorize/credentials.ts'
import { type GuardedRuns, guardedRuns } from '../../support/http/guarded-run.ts'
import { rawRequest, sendRaw } from '../../support/http/raw-socket.ts'
import { startService } from '../../support/http/service.ts'
import { type Site, startSite } from '../../support/http/site.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** A capability is good for one plan, one action, one address, one use, five minutes. A wrong use does not spend it. */
const folder = tempFolder()
let clock = Date.now()
const now = () => clock
let runs: GuardedRuns
let site: Site
let planId: string
let capability: string

beforeAll(async () => {
  runs = guardedRuns(now)
  site = await startSite({ folder: folder.path, mount: runs.mount, now })
})

afterAll(async () => {
  await site.stop()
  folder[Symbol.dispose]()
})

beforeEach(async () => {
  planId = await site.planId()
  capability = await site.capability(planId)
})

interface Use {
  action?: string
  plan?: string
  from?: string
  shown?: string
}

async function use({ action = 'apply', plan = planId, from = 'inside', shown = capability }: Use = {}) {
  const headers = { 'x-deploy-capability': shown }
  const { status, body } = await site.api.call({ path: `/test/${action}`, body: { planId: plan }, from, headers })
  return status === 200 ? 'ran' : [status, body.code]
}

describe('used a second time', () => {
  test('it is refused by name', async () => {
    expect(await use()).toBe('ran')
    expect(await use()).toEqual([403, 'capability_used'])
  })

  test('it is refused after a restart, too', async () => {
    expect(await use()).toBe('ran')
    await site.api.stop()
    const { network } = site.api
    const api = await startService({ folder: folder.path, network, dns: site.dns, mount: runs.mount, now })
    site = { ...site, api }
    expect(await use()).toEqual([403, 'capability_used'])
  })

  test('it is refused after another refusal in between, too', async () => {
    expect(await use({ action: 'remove' })).toEqual([403, 'capability_invalid'])
    expect(await use()).toBe('ran')
    expect(await use({ action: 'remove' })).toEqual([403, 'capability_invalid'])
    expect(await use()).toEqual([403, 'capability_used'])
  })
})

describe('shown wrongly', () => {
  test.each<[string, () => Promise<Use>]>([
    ['with another plan', async () => ({ plan: await site.planId() })],
    ['from another address inside', async () => ({ from: `${site.api.network}.11` })],
    ['for another action', async () => ({ action: 'remove' })],
  ])('%s it is refused and not spent', async (_name, wrong) => {
    const before = runs.count()
    expect(await use(await wrong())).toEqual([403, 'capability_invalid'])
    expect(runs.count()).toBe(before)
    expect(await use()).toBe('ran')
  })

  test('from outside it is refused by the network, and not spent', async () => {
    expect(await use({ from: 'outside' })).toEqual([403, 'internal_network_required'])
    expect(await use()).toBe('ran')
  })

  test('with a plan that does not exist it is not spent', async () => {
    expect(await use({ plan: 'plan_00000000000000000000000000' })).toEqual([404, 'plan_not_found'])
    expect(await use()).toBe('ran')
  })

  test('with one character changed, wherever it is', async () => {
    for (const at of [0, 3, 4, 5, 25, capability.length - 2]) {
      const other = capability[at] === 'A' ? 'B' : 'A'
      const changed = capability.slice(0, at) + other + capability.slice(at + 1)
      expect(await use({ shown: changed })).toEqual([403, 'capability_invalid'])
    }
    expect(await use()).toBe('ran')
  })

  test('a last character that decodes to the same bits is another value', async () => {
    const twin = Buffer.from(capability.slice(4), 'base64url')
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const twins = [...alphabet]
      .map((last) => capability.slice(0, -1) + last)
      .filter((text) => text !== capability && Buffer.from(text.slice(4), 'base64url').equals(twin))
    expect(twins.length).toBeGreaterThan(0)
    for (const shown of twins) expect(await use({ shown })).toEqual([403, 'capability_invalid'])
  })

  test.each<[string, (value: string) => string]>([
    ['empty', () => ''],
    ['only its prefix', () => 'cap_'],
    ['without its prefix', (value) => value.slice(4)],
    ['one character short', (value) => value.slice(0, -1)],
    ['one character long', (value) => `${value}A`],
    ['padded', (value) => `${value}=`],
    ['in quotes', (value) => `"${value}"`],
    ['as a bearer', (value) => `Bearer ${value}`],
    ['in upper case', (value) => value.toUpperCase()],
    ['twice in one value', (value) => `${value},${value}`],
    ['with another one', (value) => `${value}, ${newCapability()}`],
    ['never issued', () => newCapability()],
    ['8 KiB of it', (value) => value.repeat(160)],
  ])('%s it is refused', async (_name, spoil) => {
    expect(await use({ shown: spoil(capability) })).toEqual([403, 'capability_invalid'])
    expect(await use()).toBe('ran')
  })

  test('in two header lines of one request it is refused and not spent', async () => {
    const body = JSON.stringify({ planId })
    const twice = [`x-deploy-capability: ${capability}`, `X-Deploy-Capability: ${capability}`]
    const typed = ['Content-Type: application/json', `Content-Length: ${body.length}`]
    const { origin, network } = site.api
    const bytes = rawRequest(origin, 'POST /test/apply HTTP/1.1', ...twice, ...typed) + body
    const answer = await sendRaw(origin, `${network}.10`, bytes)
    expect([answer.statuses, answer.body.code]).toEqual([[403], 'capability_invalid'])
    expect(await use()).toBe('ran')
  })

  test('in the query, the body or another header it is no capability', async () => {
    for (const { path, body, headers } of [
      { path: `/test/apply?x-deploy-capability=${capability}`, body: { planId }, headers: {} },
      { path: '/test/apply', body: { planId, capability }, headers: {} },
      { path: '/test/apply', body: { planId }, headers: { authorization: `Bearer ${capability}` } },
      { path: '/test/apply', body: { planId }, headers: { 'x-deploy-token': capability } },
      { path: '/test/apply', body: { planId }, headers: { cookie: `x-deploy-capability=${capability}` } },
    ]) {
      const answer = await site.api.call({ path, body, headers })
      expect([answer.status, answer.body.code]).toEqual([401, 'capability_required'])
    }
    expect(await use()).toBe('ran')
  })
})

describe('its five minutes', () => {
  test.each([
    ['4:59', 299_000, 'ran'],
    ['4:59.999', 299_999, 'ran'],
    ['5:00', 300_000, [403, 'capability_expired']],
    ['5:01', 301_000, [403, 'capability_expired']],
    ['a day', 86_399_000, [403, 'capability_expired']],
  ])('after %s', async (_name, age, outcome) => {
    clock += age
    expect(await use()).toEqual(outcome)
    expect(await use()).toEqual(outcome === 'ran' ? [403, 'capability_used'] : outcome)
  })

  test('a second one does not bring the first to life again', async () => {
    clock += 301_000
    await site.capability(planId)
    expect(await use()).toEqual([403, 'capability_expired'])
  })

  test('none is issued for a plan past its life', async () => {
    clock += 86_400_000
    const { status, body } = await site.token({ planId })
    expect([status, body.code]).toEqual([410, 'plan_expired'])
  })
})
