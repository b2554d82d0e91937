import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AuditTrail } from '../../../src/audit/trail.ts'
import { Admission } from '../../../src/authorize/admission.ts'
import type { FlowRules } from '../../../src/authorize/flows.ts'
import { Problem } from '../../../src/model/errors.ts'
import type { Plan } from '../../../src/model/exposure.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { Runs } from '../../../src/runs/engine/runs.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { Exposer } from '../../../src/usecases/exposer.ts'
import { Plans } from '../../../src/usecases/plans.ts'
import { storeOfFile } from '../../support/fresh.ts'
import { appliedPlan } from '../../support/saga.ts'

/** What callers do with plans, on a real store, with runs that have no steps. */
const CALLER = { address: '192.168.45.10', network: 'internal', unconfiguredProxy: false } as const
const NONE = { capability: undefined, adminToken: undefined }
const CAPABILITY_FLOW: FlowRules = { flow: 'capability', adminToken: 'off' }
const ZONE = 'lab.test'
let now = 1_000_000

const { store, folder } = await storeOfFile()

function exposerWith(
  rules = CAPABILITY_FLOW,
  adminToken?: string,
  assertEquipped: () => void = () => undefined,
): Exposer {
  const common = {
    store,
    trail: new AuditTrail(store),
    instance: 'me',
    clock: { ...systemClock, now: () => now },
    now: () => now,
  }
  const publish = <T>(_host: string, commit: () => Promise<T>) => commit()
  const runs = new Runs({
    ...common,
    log: createLog('silent', []),
    stepsFor: async () => [],
    raiseFences: async () => undefined,
    leaseMs: 30_000,
    crashPoint: () => undefined,
    publish,
  })
  return new Exposer({
    ...common,
    runs,
    publish,
    settings: {
      targets: ['25'],
      addresses: {},
      zones: new Map([[ZONE, { ttl: 60, publish: [] }]]),
      edge: { http: 80, https: 443 },
      ports: { allowed: [], denied: [], deniedOn: {} },
      challenge: 'dns-01',
    },
    plans: new Plans({ store, reads: store, now: () => now }),
    admission: new Admission(rules, () => adminToken),
    assertAdopting: () => undefined,
    assertEquipped,
    place: async () => 'here',
    renewals: undefined,
    stepsToRepair: async () => [],
    reportCertificate: () => undefined,
  })
}

/** A plan that was not applied. */
async function fresh(): Promise<Plan> {
  const plan = await applied()
  const id = plan.planId.replace(/.{4}$/, 'zzzz')
  const other: Plan = { ...plan, planId: id, state: 'planned', expiresAt: now + 60_000 }
  await store.insertPlan(other)
  return other
}

/** An applied plan, whose exposure ends in a minute. */
const applied = () => appliedPlan(store, now, now + 60_000)

const removed = async (exposer: Exposer, { planId }: Plan, capability: string) =>
  (await (await exposer.remove(planId, CALLER, { ...NONE, capability })).result).outcome.kind

test('a capability is good for five minutes, and the store has its hash and nothing else of it', async () => {
  const { planId } = await applied()
  const { capability, expiresAt } = await exposerWith().grant(planId, 'remove', CALLER, NONE)
  expect(expiresAt - now).toBe(5 * 60_000)
  const stored = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1'))
  expect(stored.join('')).not.toContain(capability)
  expect(stored.join('')).toContain(createHash('sha256').update(capability).digest('hex'))
})

test('a capability opens its own plan, and is not spent on another one', async () => {
  const [one, other] = [await applied(), await applied()]
  const exposer = exposerWith()
  const { capability } = await exposer.grant(one.planId, 'remove', CALLER, NONE)
  await expect(removed(exposer, other, capability)).rejects.toMatchObject({ code: 'capability_invalid' })
  expect(await removed(exposer, one, capability)).toBe('succeeded')
  await expect(removed(exposer, one, capability)).rejects.toMatchObject({ code: 'capability_used' })
})

test('a capability that nobody issued opens nothing', async () => {
  const forged = removed(exposerWith(), await applied(), `cap_${'A'.repeat(43)}`)
  await expect(forged).rejects.toMatchObject({ code: 'capability_invalid' })
})

test('a release that is refused because the host differs does not spend its capability', async () => {
  const { planId } = await applied()
  const exposer = exposerWith()
  const { capability } = await exposer.grant(planId, 'release', CALLER, NONE)
  const release = (assertIntact: () => Promise<void>) =>
    exposer.release(planId, CALLER, { ...NONE, capability }, assertIntact)
  const differs = release(async () => {
    throw new Error('The host is not as its plan says.')
  })
  await expect(differs).rejects.toThrow('not as its plan says')
  const { result } = await release(async () => undefined)
  expect((await result).outcome.kind).toBe('succeeded')
})

test('the state of a plan is judged before what this installation lacks for its run', async () => {
  const { planId } = await fresh()
  const exposer = exposerWith(CAPABILITY_FLOW, undefined, () => {
    throw new Problem('unavailable', 'The zone has no key.')
  })
  for (const action of ['remove', 'accept', 'repair'] as const) {
    const { capability } = await exposer.grant(planId, action, CALLER, NONE)
    const credentials = { ...NONE, capability }
    const run =
      action === 'repair'
        ? exposer.repair(planId, false, CALLER, credentials)
        : exposer[action](planId, CALLER, credentials)
    await expect(run, action).rejects.toMatchObject({ code: 'plan_not_applied' })
  }
})

test('a plan that has expired is told as such, whatever it is asked for', async () => {
  const { planId, expiresAt } = await fresh()
  const exposer = exposerWith()
  const [forExtend, forRelease] = [
    await exposer.grant(planId, 'apply', CALLER, NONE),
    await exposer.grant(planId, 'release', CALLER, NONE),
  ].map(({ capability }) => ({ ...NONE, capability }))
  if (!forExtend || !forRelease) throw new Error('no capability')
  const before = now
  now = expiresAt + 1
  const extended = exposer.extend(planId, 600, CALLER, forExtend)
  await expect(extended).rejects.toMatchObject({ code: 'plan_expired' })
  const released = exposer.release(planId, CALLER, forRelease, () => Promise.reject(new Error('not asked for')))
  await expect(released).rejects.toMatchObject({ code: 'plan_expired' })
  now = before
})

test('the administrator token has to be the configured one, and there has to be one', async () => {
  const { planId } = await applied()
  const remove = (configured: string | undefined, adminToken: string) =>
    exposerWith({ ...CAPABILITY_FLOW, adminToken: 'internal' }, configured).remove(planId, CALLER, {
      ...NONE,
      adminToken,
    })
  const REFUSED = { code: 'admin_token_invalid' }
  await expect(remove('right', 'wrong')).rejects.toMatchObject(REFUSED)
  await expect(remove(undefined, '')).rejects.toMatchObject(REFUSED)
  await expect(remove('', '')).rejects.toMatchObject(REFUSED)
  const { result } = await remove('right', 'right')
  expect((await result).outcome.kind).toBe('succeeded')
})

test('an exposure is removed after its end, and not before, nor after it was extended', async () => {
  const [due, extended] = [await applied(), await applied()]
  const exposer = exposerWith()
  expect(await exposer.expire(due.planId)).toBeUndefined()
  const { capability } = await exposer.grant(extended.planId, 'apply', CALLER, NONE)
  await exposer.extend(extended.planId, 3_600, CALLER, { ...NONE, capability })
  now += 60_000
  expect(await exposer.expire(extended.planId)).toBeUndefined()
  expect(await store.findPlan(extended.planId)).toMatchObject({ state: 'applied' })
  const started = await exposer.expire(due.planId)
  expect((await started?.result)?.outcome.kind).toBe('succeeded')
  expect(await store.findExposure(due.host)).toBeUndefined()
})
