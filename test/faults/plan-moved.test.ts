import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceConfig } from '../../lab/service-config.ts'
import { statePaths } from '../../lab/state.ts'
import { startWebBackend } from '../support/backends/web-backend.ts'
import { updateZone } from '../support/dns/lab-dns.ts'
import { invariants, planned, planOf, run, world } from '../support/lab/exposure.ts'
import type { TestLab } from '../support/lab/lab.ts'
import { expectApplicable, expectFailure, expectPutBack } from '../support/lab/put-back.ts'
import { borrowLab } from '../support/lab/shared-lab.ts'

/**
 * The policy, the zone or the servers change between the plan and its apply. All plans are made with the first configuration; each
 * test starts the service with its own, and the last tests with the first one again: a start takes longer than an apply.
 */
let lab: TestLab
const plans = new Map<string, string>()
const planFor = (subdomain: string): string => plans.get(subdomain) ?? ''
beforeAll(async () => {
  lab = await borrowLab('mortal')
  for (const subdomain of ['port', 'server', 'homeless', 'stale', 'moved'])
    plans.set(subdomain, (await planned(lab, { subdomain })).planId)
})
afterAll(() => lab?.stop())

const section = (config: ServiceConfig, name: string) => config[name] as Record<string, unknown>
const inZone = (config: ServiceConfig, change: Record<string, unknown>): ServiceConfig => {
  const zones = section(config, 'zones') as Record<string, Record<string, unknown>>
  return { ...config, zones: { 'lab.test': { ...zones['lab.test'], ...change } } }
}

const FORBIDDEN = [
  ['port', 'port_not_allowed', (config: ServiceConfig) => ({ ...config, ports: { allowed: ['4000-5000'] } })],
  [
    'server',
    'server_not_allowed',
    (config: ServiceConfig) => ({ ...config, servers: { ...section(config, 'servers'), targets: ['23', '253'] } }),
  ],
] as const
const SOME_FORBIDDEN = process.env.CAMPAIGN ? FORBIDDEN : FORBIDDEN.slice(0, 1)

test.each(SOME_FORBIDDEN)(
  'an apply is refused when the policy no longer allows its %s: %s',
  async (subdomain, code, configure) => {
    const before = await world(lab)
    const planId = planFor(subdomain)
    await lab.restartService(configure)
    expectFailure(await run(lab, planId), 422, code, 'check')
    await expectPutBack(lab, planId, before)
  },
)

test.runIf(process.env.CAMPAIGN)('an apply is refused when the zone is no longer managed', async () => {
  const planId = planFor('homeless')
  await lab.restartService((config) => {
    const zones = section(config, 'zones') as Record<string, unknown>
    return { ...config, zones: { 'other.test': zones['lab.test'] } }
  })
  const answer = await run(lab, planId)
  expect([answer.status, answer.body.code]).toEqual([422, 'zone_not_managed'])
  await invariants(lab)
})

test('a changed TTL makes the plan stale, and the answer names it', async () => {
  const before = await world(lab)
  const backups = () => readdirSync(join(statePaths(lab.state).service, 'backups'))
  const planId = planFor('stale')
  await lab.restartService((config) => inZone(config, { ttl: 120 }))
  const kept = backups()
  const answer = await run(lab, planId)
  expectFailure(answer, 409, 'plan_stale', 'check')
  expect(answer.body.detail).toContain('DNS records')
  expect(answer.body.moved).toEqual(['the DNS records to create'])
  await expectPutBack(lab, planId, before)
  // A run that changed nothing leaves no backup.
  expect(backups()).toEqual(kept)
})

test.runIf(process.env.CAMPAIGN)('a changed server address makes the plan stale, and the answer names it', async () => {
  const before = await world(lab)
  const planId = planFor('moved')
  const elsewhere = `${lab.description.backends[0]?.address}`.replace(/\.25$/, '.26')
  await using _backend = await startWebBackend(lab, (_request, response) => response.end(), elsewhere, 3000)
  await lab.restartService((config) => {
    const servers = section(config, 'servers')
    const addresses = { ...(servers.addresses as Record<string, string>), '25': elsewhere }
    return { ...config, servers: { ...servers, addresses } }
  })
  const answer = await run(lab, planId)
  expectFailure(answer, 409, 'plan_stale', 'check')
  expect(answer.body.moved).toEqual(["the backend's address"])
  await expectPutBack(lab, planId, before)
})

describe('with the first configuration again', () => {
  beforeAll(() => lab.restartService())

  test.each(SOME_FORBIDDEN)('the plan that the policy forbade because of its %s can be applied', (subdomain) =>
    expectApplicable(lab, planFor(subdomain)),
  )

  test('an apply does not change a name that somebody else has created', async () => {
    const { planId } = await planned(lab, { subdomain: 'wanted' })
    updateZone(lab, 'add wanted.lab.test 60 A 127.0.0.9')
    const before = await world(lab)
    const answer = await run(lab, planId)
    expectFailure(answer, 409, 'dns_name_taken', 'check')
    expect(answer.body.types).toEqual(['A'])
    await expectPutBack(lab, planId, before)
    updateZone(lab, 'delete wanted.lab.test')
    expect((await planOf(lab, planId)).state).toBe('rolled_back')
    await expectApplicable(lab, planId)
  })
})
