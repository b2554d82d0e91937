import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isAdminToken } from '../../../src/authorize/credentials.ts'
import { startZoneServer, type ZoneServer } from '../../support/dns/zone-server.ts'
import { guardedRuns } from '../../support/http/guarded-run.ts'
import { type Site, startSite } from '../../support/http/site.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** Who gets in with the administrator token, and who does not, in both flows and with real files. */
const RIGHT = 'tok-5f0c1e0b9a7d4c3e2b1a'
let site: Site | undefined
let zoneServer: ZoneServer
const stack = new DisposableStack()

beforeAll(async () => {
  zoneServer = await startZoneServer([{ name: 'lab.test', records: [] }])
})

afterEach(async () => {
  await site?.stop()
  site = undefined
})

afterAll(async () => {
  stack.dispose()
  await zoneServer.stop()
})

async function start(settings: string, token?: string, environment?: Record<string, string>): Promise<Site> {
  const folder = stack.use(tempFolder())
  const file = join(folder.path, 'admin-token')
  if (token !== undefined) writeFileSync(file, token, { mode: 0o600 })
  const runs = guardedRuns()
  site = await startSite({
    sockets: false,
    zoneServer,
    mount: runs.mount,
    settings: token === undefined ? settings : `${settings}\nadminTokenFile: ${file}`,
    ...(environment && { environment }),
  })
  return site
}

type Headers = { token?: string; capability?: string }

async function ask(site: Site, path: string, planId: string, from: string, { token, capability }: Headers = {}) {
  const headers = {
    ...(token !== undefined && { 'x-deploy-token': token }),
    ...(capability !== undefined && { 'x-deploy-capability': capability }),
  }
  const { status, body } = await site.api.call({ path, body: { planId }, from, headers })
  return status < 300 ? 'through' : body.code
}

describe('capability flow', () => {
  test.each([
    ['no token is configured', undefined],
    ['one is configured but not switched on', RIGHT],
  ])('where %s none is accepted', async (_name, token) => {
    const site = await start('flow: capability', token)
    const planId = await site.planId()
    for (const action of ['apply', 'remove']) {
      expect(await ask(site, `/test/${action}`, planId, 'inside', { token: RIGHT })).toBe('capability_required')
      expect(await ask(site, `/test/${action}`, planId, 'outside', { token: RIGHT })).toBe('internal_network_required')
    }
    expect(await ask(site, '/api/internal/token', planId, 'outside', { token: RIGHT })).toBe(
      'internal_network_required',
    )
    expect((await site.api.call({ path: '/api/policy' })).body.adminToken.accepted).toBe(false)
  })

  test('break-glass: inside it stands in for a capability, outside it never does', async () => {
    const site = await start('adminToken: internal', `${RIGHT}\n`)
    const planId = await site.planId()
    expect((await site.api.call({ path: '/api/policy' })).body.adminToken.accepted).toBe(true)
    for (const action of ['apply', 'remove'] as const) {
      const path = `/test/${action}`
      expect(await ask(site, path, planId, 'inside', { token: RIGHT })).toBe('through')
      expect(await ask(site, path, planId, 'inside', { token: `${RIGHT}x` })).toBe('admin_token_invalid')
      expect(await ask(site, path, planId, 'inside', { token: '' })).toBe('admin_token_invalid')
      expect(await ask(site, path, planId, 'inside')).toBe('capability_required')
      expect(await ask(site, path, planId, 'outside', { token: RIGHT })).toBe('internal_network_required')
      const spoofed = await site.api.call({
        path,
        body: { planId },
        headers: { 'x-deploy-token': RIGHT, 'x-forwarded-for': `${site.api.network}.10` },
        from: 'outside',
      })
      expect(spoofed.body.code).toBe('internal_network_required')
      // Both sent: the capability decides, whatever the token says.
      const capability = await site.capability(planId, action)
      const wrong = { token: RIGHT, capability: `${capability.slice(0, -2)}AA` }
      expect(await ask(site, path, planId, 'inside', wrong)).toBe('capability_invalid')
      expect(await ask(site, path, planId, 'inside', { token: 'wrong', capability })).toBe('through')
      expect(await ask(site, path, planId, 'inside', { token: RIGHT, capability })).toBe('capability_used')
    }
  })

  test('break-glass without a token, or with an empty one, lets nobody in', async () => {
    for (const token of [undefined, '', ' \n']) {
      const site = await start('adminToken: internal', token)
      const planId = await site.planId()
      for (const sent of ['', ' ', 'undefined', 'null', RIGHT]) {
        expect(await ask(site, '/test/apply', planId, 'inside', { token: sent })).toBe('admin_token_invalid')
      }
      expect((await site.api.call({ path: '/api/policy' })).body.adminToken.accepted).toBe(false)
      await site.stop()
    }
    site = undefined
  })
})

describe('legacy flow', () => {
  test('inside: apply without a credential, remove with its capability, a wrong credential is never ignored', async () => {
    const site = await start('flow: legacy', RIGHT)
    const planId = await site.planId()
    expect((await site.api.call({ path: '/api/policy' })).body).toMatchObject({
      flow: 'legacy',
      adminToken: { accepted: true },
    })
    const inside = (path: string, shown?: Headers) => ask(site, path, planId, 'inside', shown)
    expect(await inside('/test/apply')).toBe('through')
    expect(await inside('/test/apply', { token: RIGHT })).toBe('through')
    expect(await inside('/test/apply', { token: 'wrong' })).toBe('admin_token_invalid')
    expect(await inside('/test/apply', { capability: 'wrong' })).toBe('capability_invalid')
    expect(await inside('/test/apply', { capability: await site.capability(planId) })).toBe('through')
    expect(await inside('/test/remove')).toBe('capability_required')
    expect(await inside('/test/remove', { token: RIGHT })).toBe('capability_required')
    expect(await inside('/test/remove', { capability: await site.capability(planId) })).toBe('capability_invalid')
    const capability = await site.capability(planId, 'remove')
    expect(await inside('/test/remove', { capability, token: 'wrong' })).toBe('admin_token_invalid')
    expect(await inside('/test/remove', { capability })).toBe('through')
    expect(await inside('/test/remove', { capability })).toBe('capability_used')
    expect(await inside('/api/internal/token', { token: 'wrong' })).toBe('admin_token_invalid')
  })

  test('outside: nothing without the token, removal with its capability too', async () => {
    const site = await start('flow: legacy\nrateLimits: { public: { failedCredential: 1000 } }', RIGHT)
    const planId = await site.planId()
    const outside = (path: string, shown?: Headers) => ask(site, path, planId, 'outside', shown)
    for (const path of ['/api/internal/token', '/test/apply', '/test/remove']) {
      const capability = await site.capability(planId, 'remove')
      expect(await outside(path)).toBe('internal_network_required')
      expect(await outside(path, { capability })).toBe('internal_network_required')
      for (const token of ['wrong', '', `${RIGHT} x`, RIGHT.slice(1), `${RIGHT},${RIGHT}`]) {
        expect(await outside(path, { token, capability })).toBe('admin_token_invalid')
      }
    }
    expect(await outside('/test/apply', { token: RIGHT })).toBe('through')
    expect(await outside('/test/remove', { token: RIGHT })).toBe('capability_required')
    const inside = await site.capability(planId, 'remove')
    expect(await outside('/test/remove', { token: RIGHT, capability: inside })).toBe('capability_invalid')
    const issued = await site.api.call({
      path: '/api/internal/token',
      body: { planId, action: 'remove' },
      headers: { 'x-deploy-token': RIGHT },
      from: 'outside',
    })
    expect(issued.body.boundTo.ip).toBe('127.0.0.1')
    expect(await outside('/test/remove', { token: RIGHT, capability: issued.body.capability })).toBe('through')
  })

  test('without a token, or with an empty one, nobody outside gets in', async () => {
    for (const environment of [undefined, { DRAWBRIDGE_ADMIN_TOKEN: '' }]) {
      const site = await start('flow: legacy', undefined, environment)
      const planId = await site.planId()
      for (const path of ['/api/internal/token', '/test/apply']) {
        expect(await ask(site, path, planId, 'outside')).toBe('internal_network_required')
        for (const token of ['', 'undefined']) {
          expect(await ask(site, path, planId, 'outside', { token })).toBe('admin_token_invalid')
        }
      }
      await site.stop()
    }
    site = undefined
  })
})

describe('an empty list of networks', () => {
  test.each(['capability', 'legacy'])('means nobody is inside (%s flow)', async (flow) => {
    const site = await start(`flow: ${flow}\nadminToken: internal\ninternalNetworks: []`, RIGHT)
    const { body } = await site.plan()
    for (const path of ['/api/internal/token', '/test/apply', '/test/remove']) {
      for (const from of ['inside', 'outside', `${site.api.network}.23`]) {
        expect(await ask(site, path, body.planId, from)).toBe('internal_network_required')
        if (flow === 'capability') {
          expect(await ask(site, path, body.planId, from, { token: RIGHT })).toBe('internal_network_required')
        }
      }
    }
  })
})

describe('the comparison', () => {
  test.each(['', 'x', RIGHT.slice(0, -1), `${RIGHT}\0`, RIGHT.toUpperCase(), 'x'.repeat(100_000), '\ud800'])(
    'of %s, whatever its length, is false and does not throw',
    (presented) => {
      expect(isAdminToken(presented, RIGHT)).toBe(false)
    },
  )

  test('is true for the token alone', () => {
    expect(isAdminToken(RIGHT, RIGHT)).toBe(true)
  })
})
