import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { statePaths } from '../../lab/state.ts'
import { startWebBackend } from '../support/backends/web-backend.ts'
import { updateZone } from '../support/dns/lab-dns.ts'
import { serviceHere } from '../support/instances/service-here.ts'
import { invariants, planned, planOf, run, world } from '../support/lab/exposure.ts'
import type { TestLab } from '../support/lab/lab.ts'
import { expectApplicable, expectFailure, expectPutBack } from '../support/lab/put-back.ts'
import { borrowLab } from '../support/lab/shared-lab.ts'

/**
 * The policy, the zone or the servers change between the plan and its apply. All plans are made with the first configuration by the
 * service of the lab; each test serves the same state with its own configuration, and the last tests with the first one again.
 */
let lab: TestLab
const plans = new Map<string, string>()
const planFor = (subdomain: string): string => plans.get(subdomain) ?? ''
beforeAll(async () => {
  lab = await borrowLab('mortal')
  for (const subdomain of ['port', 'server', 'homeless', 'stale', 'moved'])
    plans.set(subdomain, (await planned(lab, { subdomain })).planId)
  await lab.stopService()
})
afterAll(() => lab?.stop())

type Change = NonNullable<Parameters<typeof serviceHere>[1]>
const FORBIDDEN: readonly (readonly [string, string, Change])[] = [
  ['port', 'port_not_allowed', (config) => Object.assign(config, { ports: { allowed: ['4000-5000'] } })],
  ['server', 'server_not_allowed', ({ servers }) => Object.assign(servers, { targets: ['23', '253'] })],
]
const SOME_FORBIDDEN = process.env.CAMPAIGN ? FORBIDDEN : FORBIDDEN.slice(0, 1)

test.each(SOME_FORBIDDEN)(
  'an apply is refused when the policy no longer allows its %s: %s',
  async (subdomain, code, change) => {
    const before = await world(lab)
    const planId = planFor(subdomain)
    await using _service = await serviceHere(lab, change)
    expectFailure(await run(lab, planId), 422, code, 'check')
    await expectPutBack(lab, planId, before)
  },
)

test.runIf(process.env.CAMPAIGN)('an apply is refused when the zone is no longer managed', async () => {
  const planId = planFor('homeless')
  await using _service = await serviceHere(lab, (config) => {
    config.zones = { 'other.test': config.zones['lab.test'] }
  })
  const answer = await run(lab, planId)
  expect([answer.status, answer.body.code]).toEqual([422, 'zone_not_managed'])
  await invariants(lab)
})

test('a changed TTL makes the plan stale, and the answer names it', async () => {
  const before = await world(lab)
  const backups = () => readdirSync(join(statePaths(lab.state).service, 'backups'))
  const planId = planFor('stale')
  await using _service = await serviceHere(lab, ({ zones }) => Object.assign(zones['lab.test'], { ttl: 120 }))
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
  await using _service = await serviceHere(lab, ({ servers }) => {
    servers.addresses['25'] = elsewhere
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
