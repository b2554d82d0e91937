import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askForDuties } from '../../../src/operate/control/client.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { startWebBackend } from '../../support/backends/web-backend.ts'
import { type SecondInstance, startSecondInstance } from '../../support/instances/second-instance.ts'
import { editEntry, entryFile } from '../../support/lab/entry-file.ts'
import { applied, granted, planned, planOf, removed, run } from '../../support/lab/exposure.ts'
import { housekeeping } from '../../support/lab/housekeeping.ts'
import { startWithAgents, type TestLab } from '../../support/lab/lab.ts'
import { borrowPostgres, type PostgresCluster } from '../../support/programs/postgres.ts'
import { until } from '../../support/until.ts'

/** Once a change was answered, every read tells of it: at once where it was made, soon on every other instance. */
const ROUNDS = process.env.CAMPAIGN ? 8 : 1

let postgres: PostgresCluster
let store: Store
let lab: TestLab
let second: SecondInstance

beforeAll(async () => {
  postgres = await borrowPostgres()
  // The tests ask again and again, from one address, until a change is told.
  const rateLimits = { internal: { read: 100_000, diagnose: 100_000, plan: 100_000 } }
  lab = (await startWithAgents({ configure: (config) => ({ ...config, store: postgres.url, rateLimits }) })).lab
  store = await openStore({ kind: 'postgres', url: postgres.url })
  await until(
    'the first instance holds the monitor',
    async () => (await store.findLease('monitor', Date.now())) !== undefined,
  )
  second = await startSecondInstance(lab)
})

afterAll(async () => {
  await store?.close()
  await second?.[Symbol.asyncDispose]()
  await lab?.stop()
  await postgres?.stop()
})

/** The same lab, asked through the instance that reads along. */
const readingAlong = (): TestLab => ({ ...lab, description: lab.description, call: second.call })

/** What all reads tell of a host in the same moment. */
async function told(instance: TestLab, host: string, planId: string) {
  const [health, hosts, diagnosis, plan] = await Promise.all([
    instance.call({ path: `/api/health?host=${host}` }),
    instance.call({ path: '/api/hosts' }),
    instance.call({ path: `/api/diagnose?host=${host}` }),
    instance.call({ path: `/api/deploy/plans/${planId}` }),
  ])
  const row = hosts.body.hosts.find((one: { host: string }) => one.host === host)
  return {
    health: health.status === 200 ? health.body.badge : health.body.code,
    lastCheck: health.body.lastCheck?.httpStatus,
    configPath: health.body.configPath,
    list: row ? [row.badge, row.planId] : 'not listed',
    diagnosis: diagnosis.status === 200 ? diagnosis.body.badge : diagnosis.body.code,
    plan: plan.body.state,
  }
}

const live = (planId: string, configPath: string) => ({
  health: 'RUNNING',
  lastCheck: 200,
  configPath,
  list: ['RUNNING', planId],
  diagnosis: 'RUNNING',
  plan: 'applied',
})
const GONE = { health: 'host_not_found', list: 'not listed', diagnosis: 'host_not_found', plan: 'removed' }

const INSTANCES = [
  ['that asks the hosts', () => lab],
  ['that reads along', readingAlong],
] as const
describe.each(process.env.CAMPAIGN ? INSTANCES : INSTANCES.slice(1))('on an instance %s', (kind, instance) => {
  test(`right after apply and remove every read tells the new state, ${ROUNDS} times of ${ROUNDS}`, async () => {
    const expected = []
    const seen = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const { planId, host } = await applied(instance(), { subdomain: `round-${round}`, tls: round === 0 })
      seen.push(await told(instance(), host, planId))
      expected.push(live(planId, entryFile(lab.description.edges.primary, host)))
      await removed(instance(), planId)
      seen.push(await told(instance(), host, planId))
      expected.push(GONE)
    }
    expect(seen).toEqual(expected)
  })

  test('extend is told at once, too', async () => {
    const { planId, host } = await applied(instance(), { subdomain: 'extended', expiresIn: 300 })
    const capability = { 'x-deploy-capability': await granted(instance(), planId) }
    const answer = await instance().call({
      path: '/api/deploy/extend',
      body: { planId, expiresIn: 7_200 },
      headers: capability,
    })
    const { body } = await instance().call({ path: `/api/health?host=${host}` })
    expect(body.expiresAt).toBe(answer.body.expiresAt)
    const other = instance().call === lab.call ? second : lab
    await until('the other instance tells it', async () => {
      const { body: there } = await other.call({ path: `/api/health?host=${host}` })
      return there.expiresAt === answer.body.expiresAt
    })
    const events = await store.readEvents(0, 1_000)
    expect(events.filter((event) => event.planId === planId).map(({ type }) => type)).toContain('exposure.extended')
    await removed(instance(), planId)
  })

  test('right after a repair and an accept every read tells the new state', async () => {
    const subdomain = `mended-${kind.length}`
    const { planId, host } = await applied(instance(), { subdomain })
    const file = entryFile(lab.description.edges.primary, host)
    const badge = async () => (await instance().call({ path: `/api/health?host=${host}` })).body.badge
    editEntry(file, host)
    // The monitor may have read the file before: then this check changes no badge.
    await housekeeping(lab, 'check')
    await until('the edit is noticed', async () => (await badge()) === 'DRIFT')
    const repaired = await run(instance(), planId, 'repair', {}, { overwrite: true })
    expect(repaired.status).toBe(200)
    expect(await told(instance(), host, planId)).toEqual(live(planId, file))
    expect((await run(instance(), planId, 'accept')).status).toBe(200)
    const after = await told(instance(), host, planId)
    expect([after.plan, after.diagnosis]).toEqual(['released', 'RUNNING'])
    const isReleased = async () => (await instance().call({ path: `/api/health?host=${host}` })).body.managed === false
    // The instance that reads along learns from the other one which file serves the host now.
    if (instance().call === lab.call) expect(await isReleased()).toBe(true)
    await until('the host is told as not managed', isReleased)
  }, 120_000)

  test('only the instance that asks the hosts checks them by request', async () => {
    const [there] = await askForDuties(second.stateDir, ['check'])
    expect(there?.sentence).toBe('check: another instance on this store does this; run the command on its machine.')
  })

  test('a run that nobody waits for is told by all reads when the plan tells of it', async () => {
    const subdomain = `nobody-waits-${kind.length}`
    const { planId, host } = await planned(instance(), { subdomain })
    await run(instance(), planId, 'apply', { prefer: 'respond-async' })
    while ((await planOf(instance(), planId)).state !== 'applied');
    expect((await instance().call({ path: `/api/health?host=${host}` })).status).toBe(200)
    await run(instance(), planId, 'remove', { prefer: 'respond-async' })
    while ((await planOf(instance(), planId)).state !== 'removed');
    expect((await instance().call({ path: `/api/health?host=${host}` })).status).toBe(404)
  })

  test.runIf(process.env.CAMPAIGN)('a list that was fetched before is sent anew', async () => {
    const list = (etag?: string) =>
      instance().call({ path: '/api/hosts', headers: etag === undefined ? {} : { 'if-none-match': etag } })
    const { headers: before } = await list()
    const { planId } = await applied(instance(), { subdomain: 'tagged' })
    const { status, headers: after } = await list(String(before.etag))
    expect(status).toBe(200)
    await removed(instance(), planId)
    expect((await list(String(after.etag))).status).toBe(200)
  })

  test('a diagnosis that began before a removal is not told to whoever asks after it', async () => {
    let isHeld = false
    const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await using backend = await startWebBackend(lab, async (_request, response) => {
      if (isHeld) {
        asked.resolve()
        await released.promise
      }
      response.end('ok')
    })
    const { planId, host } = await applied(instance(), { subdomain: 'diagnosed', port: backend.port })
    isHeld = true
    const diagnosis = () => instance().call({ path: `/api/diagnose?host=${host}` })
    const early = diagnosis()
    await asked.promise
    await removed(instance(), planId)
    expect((await diagnosis()).body.code).toBe('host_not_found')
    released.resolve()
    await early
  })
})
