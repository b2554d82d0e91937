import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { statePaths } from '../../../lab/state.ts'
import { editEntry, entryFile } from '../../support/lab/entry-file.ts'
import { applied, granted, invariants, planned, planOf, removed, run, world } from '../../support/lab/exposure.ts'
import { housekeeping } from '../../support/lab/housekeeping.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { rowsOf, withStore } from '../../support/lab/lab-store.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { until } from '../../support/until.ts'

/** A lease of life is minutes at least, so the tests move its end instead of waiting. */
let lab: TestLab
beforeAll(async () => {
  lab = await borrowLab()
})
afterAll(() => lab?.stop())

const endOf = (planId: string) =>
  rowsOf<{ expires_at: number | null }>(lab, `select expires_at from exposures where plan_id = '${planId}'`)[0]
    ?.expires_at
const endsAt = (host: string, planId: string, at: number) =>
  withStore(lab, (store) => store.setExposureExpiry(host, planId, at))
const extend = async (planId: string, expiresIn: number, headers: Record<string, string>) =>
  lab.call({ path: '/api/deploy/extend', body: { planId, expiresIn }, headers })
const auditOf = (planId: string) =>
  withStore(lab, async (store) => (await store.readAudit(0, 10_000)).filter((line) => line.planId === planId))

test('an exposure with a lease of life removes itself when it is over, and says so in the audit', async () => {
  const before = await world(lab)
  const started = Date.now()
  const { planId, host } = await applied(lab, { subdomain: 'brief', expiresIn: 300 })
  const { planId: lasting } = await applied(lab, { subdomain: 'lasting' })
  expect(endOf(planId)).toBeGreaterThanOrEqual(started + 300_000)
  expect(endOf(planId)).toBeLessThanOrEqual(Date.now() + 300_000)
  expect(endOf(lasting)).toBeNull()
  await endsAt(host, planId, Date.now())
  await housekeeping(lab, 'expire')
  expect((await planOf(lab, planId)).state).toBe('removed')
  expect((await planOf(lab, lasting)).state).toBe('applied')
  await removed(lab, lasting)
  expect(await world(lab)).toEqual(before)
  await invariants(lab)
  const last = (await auditOf(planId)).at(-1)
  expect(last).toMatchObject({ actor: 'drawbridge', network: 'self', action: 'expire', outcome: 'ok', host })
})

test('extend prolongs it from now, with a capability to apply', async () => {
  const { planId, host } = await applied(lab, { subdomain: 'prolonged', expiresIn: 300 })
  const none = await extend(planId, 600, {})
  expect([none.status, none.body.code]).toEqual([401, 'capability_required'])
  const wrong = await extend(planId, 600, { 'x-deploy-capability': await granted(lab, planId, 'remove') })
  expect([wrong.status, wrong.body.code]).toEqual([403, 'capability_invalid'])
  const capability = { 'x-deploy-capability': await granted(lab, planId) }
  const answer = await extend(planId, 7_200, capability)
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({ planId, expiresAt: new Date(endOf(planId) ?? 0).toISOString() })
  expect(endOf(planId)).toBeGreaterThan(Date.now() + 7_100_000)
  const again = await extend(planId, 7_200, capability)
  expect([again.status, again.body.code]).toEqual([403, 'capability_used'])
  expect((await auditOf(planId)).map(({ action, outcome }) => `${action} ${outcome}`)).toContain('extend ok')
  await endsAt(host, planId, Date.now())
  await housekeeping(lab, 'expire')
  expect((await planOf(lab, planId)).state).toBe('removed')
})

test('extend never shortens: to end an exposure sooner takes the right to remove it', async () => {
  const refusedWith = async (planId: string, capability: Record<string, string>) => {
    const { status, body } = await extend(planId, 600, capability)
    return { status, code: body.code, expiresAt: body.expiresAt, detail: body.detail }
  }
  const right = async (planId: string) => ({ 'x-deploy-capability': await granted(lab, planId) })
  const lasting = await applied(lab, { subdomain: 'permanent' })
  const spared = await right(lasting.planId)
  expect(await refusedWith(lasting.planId, spared)).toMatchObject({
    status: 409,
    code: 'lease_not_longer',
    expiresAt: null,
  })
  expect(endOf(lasting.planId)).toBeNull()
  const long = await applied(lab, { subdomain: 'long', expiresIn: 86_400 })
  const end = endOf(long.planId)
  const expiresAt = new Date(end ?? 0).toISOString()
  const capability = await right(long.planId)
  expect(await refusedWith(long.planId, capability)).toMatchObject({ status: 409, code: 'lease_not_longer', expiresAt })
  expect(endOf(long.planId)).toBe(end)
  // A refused extend spends nothing.
  expect((await extend(long.planId, 172_800, capability)).status).toBe(200)
  const told = (await auditOf(long.planId)).filter(({ action }) => action === 'extend')
  expect(told.map(({ outcome, code }) => code ?? outcome)).toEqual(['lease_not_longer', 'ok'])
  await removed(lab, lasting.planId)
  await removed(lab, long.planId)
})

test('only an applied plan can be prolonged, only from inside, and by minutes at least', async () => {
  const { planId } = await planned(lab, { subdomain: 'idle', expiresIn: 300 })
  const capability = { 'x-deploy-capability': await granted(lab, planId) }
  const idle = await extend(planId, 600, capability)
  expect([idle.status, idle.body.code]).toEqual([409, 'plan_not_applied'])
  const short = await extend(planId, 299, capability)
  expect([short.status, short.body.code]).toEqual([400, 'invalid_request'])
  const outside = await lab.call({ path: '/api/deploy/extend', body: { planId, expiresIn: 600 }, from: 'public' })
  expect([outside.status, outside.body.code]).toEqual([403, 'internal_network_required'])
})

test('one exposure that cannot be removed by itself does not keep the others alive', async () => {
  const stuck = await applied(lab, { subdomain: 'stuck', expiresIn: 300 })
  const free = await applied(lab, { subdomain: 'free', expiresIn: 300 })
  const lease = await withStore(lab, (store) => store.takeLease(`host ${stuck.host}`, 'somebody', Date.now(), 60_000))
  expect(lease).toBeDefined()
  await endsAt(stuck.host, stuck.planId, Date.now() - 2_000)
  await endsAt(free.host, free.planId, Date.now() - 1_000)
  const expiring = housekeeping(lab, 'expire')
  await until('the other one is gone', async () => (await planOf(lab, free.planId)).state === 'removed')
  expect((await planOf(lab, stuck.planId)).state).toBe('applied')
  await withStore(lab, async (store) => lease && store.releaseLease(lease))
  await expiring
  await until('both are gone', async () => {
    await housekeeping(lab, 'expire')
    return (await planOf(lab, stuck.planId)).state === 'removed'
  })
  await invariants(lab)
  expect((await run(lab, stuck.planId, 'remove')).status).toBe(409)
})

test.runIf(process.env.CAMPAIGN)(
  'an answered extend holds, however many exposures end in the same moment',
  async () => {
    const together: Awaited<ReturnType<typeof applied>>[] = []
    for (let i = 0; i < 3; i += 1) together.push(await applied(lab, { subdomain: `together-${i}`, expiresIn: 300 }))
    const last = together.at(-1)
    const capability = { 'x-deploy-capability': await granted(lab, last.planId) }
    for (const [i, { host, planId }] of together.entries()) await endsAt(host, planId, Date.now() - 5_000 + i)
    await until('the first is being removed', async () => (await planOf(lab, together[0].planId)).state !== 'applied')
    const answer = await extend(last.planId, 86_400, capability)
    const others = together.slice(0, -1)
    await until('the others are gone', async () => {
      const states = await Promise.all(others.map(async ({ planId }) => (await planOf(lab, planId)).state))
      return states.every((state) => state === 'removed')
    })
    if (answer.status === 200) {
      expect((await planOf(lab, last.planId)).state).toBe('applied')
      await removed(lab, last.planId)
    } else {
      expect(answer.body.code).toBe('plan_not_applied')
      await until('it is gone, too', async () => (await planOf(lab, last.planId)).state === 'removed')
    }
  },
)

test.runIf(process.env.CAMPAIGN)('an exposure that cannot remove itself keeps no backup of any try', async () => {
  const { planId, host } = await applied(lab, { subdomain: 'edited', expiresIn: 300 })
  const shelf = join(statePaths(lab.state).service, 'backups')
  const file = entryFile(lab.description.edges.primary, host)
  const text = readFileSync(file, 'utf8')
  const runs = () =>
    rowsOf<{ run_id: string; state: string }>(lab, `select run_id, state from runs where plan_id = '${planId}'`)
  const failed = () => runs().filter(({ state }) => state === 'rolled_back')
  editEntry(file, host)
  await endsAt(host, planId, Date.now())
  await until('it was tried twice in vain', async () => {
    await housekeeping(lab, 'expire')
    return failed().length >= 2
  })
  const kept = readdirSync(shelf)
  expect(failed().filter(({ run_id }) => kept.includes(run_id))).toEqual([])
  writeFileSync(file, text)
  await until('it is gone', async () => {
    await housekeeping(lab, 'expire')
    return (await planOf(lab, planId)).state === 'removed'
  })
  await invariants(lab)
})
