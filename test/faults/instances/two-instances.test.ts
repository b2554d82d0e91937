import { chmodSync, cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { hostLease } from '../../../src/model/run.ts'
import { serves, viewOf } from '../../support/edge/edge-folder.ts'
import {
  grantedPlan,
  type InstanceLab,
  type RunningInstance,
  startInstanceLab,
} from '../../support/instances/instances.ts'
import { until } from '../../support/until.ts'

/** Two services on one PostgreSQL, both active, with the settings that an installation has without saying anything. */
const USES = 200
const ROUNDS = process.env.CAMPAIGN ? 50 : 1

let lab: InstanceLab
const running: RunningInstance[] = []

beforeAll(async () => {
  lab = await startInstanceLab()
}, 120_000)
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ daemon }) => daemon.stop()))
})
afterAll(() => lab?.stop())

async function start(...given: Parameters<InstanceLab['start']>): Promise<RunningInstance> {
  const instance = await lab.start(...given)
  running.push(instance)
  return instance
}

const pair = async () => [await start('first', 23), await start('second', 24)] as const

test(`${USES} applies of one capability on two instances are one run, ${ROUNDS} times of ${ROUNDS}`, {
  timeout: 60_000 * (ROUNDS + 3),
}, async () => {
  const both = await pair()
  for (let round = 0; round < ROUNDS; round += 1) {
    const { planId, host, right } = await grantedPlan(both[round % 2] ?? both[0], `race-${round}`)
    const answers = await Promise.all(
      Array.from({ length: USES }, (_, i) => (both[i % 2] ?? both[0]).post('/api/deploy/apply', { planId }, right)),
    )
    const kinds = Map.groupBy(answers, ({ status, body }) => (status === 200 ? 'applied' : `${status} ${body.code}`))
    expect([...kinds].map(([kind, of]) => `${kind} ${of.length}`).toSorted()).toEqual([
      `403 capability_used ${USES - 1}`,
      'applied 1',
    ])
    expect((await lab.store.runsOf(planId)).map(({ state }) => state)).toEqual(['succeeded'])
    expect(await serves(lab.lab.description.edges.primary, host)).toBe(true)
  }
})

test('the runs of an instance that was killed are ended by another one, and it takes its name up again at once', {
  timeout: 240_000,
}, async () => {
  const dying = await start('dying', 23, { environment: { DRAWBRIDGE_STOP_AT: 'apply dns after-intent' } })
  const living = await start('living', 24)
  const { planId, host, right } = await grantedPlan(dying, 'orphan')
  const answer = dying.post('/api/deploy/apply', { planId }, right)
  answer.catch(() => undefined)
  await until('the run waits before its DNS update', async () => {
    const [run] = await lab.store.unfinishedRuns()
    const entries = run ? await lab.store.readJournal(run.runId, 0) : []
    return entries.some(({ step, mark }) => step === 'dns' && mark === 'intent')
  })
  const [left] = await lab.store.unfinishedRuns()
  if (!left) throw new Error('The run has ended.')
  const before = await lab.store.readJournal(left.runId, 0)
  const isDying = ({ address }: { address: string }) => address === dying.origin
  const former = (await lab.store.liveInstances(Date.now())).find(isDying)
  process.kill(dying.daemon.pid, 'SIGKILL')
  await dying.daemon.exited
  const lease = await lab.store.findLease(hostLease(host), Date.now())
  expect((await living.post('/api/deploy/apply', { planId }, right)).body.code).toBe('capability_used')
  await until(
    'the other instance has ended the run',
    async () => (await lab.store.unfinishedRuns()).length === 0,
    60_000,
  )
  const [run] = await lab.store.runsOf(planId)
  expect(run).toMatchObject({ state: 'rolled_back' })
  expect(run?.holder).not.toBe(left.holder)
  expect(run?.fence).toBeGreaterThan(left.fence)
  const entries = (await lab.store.readJournal(left.runId, 0)).slice(before.length)
  expect(entries.map(({ mark }) => mark)).toContain('undo_intent')
  // Only when the lease of the dead instance has expired.
  expect(entries.filter(({ at }) => at < (lease?.expiresAt ?? Number.POSITIVE_INFINITY))).toEqual([])
  for (const edge of Object.values(lab.lab.description.edges)) expect(await serves(edge, host)).toBe(false)
  expect(living.log()).toContain('"event":"run_recovered"')
  await start('dying', 23)
  const again = (await lab.store.liveInstances(Date.now())).find(isDying)
  expect(again?.name).toBe(former?.name)
  expect(again?.process).not.toBe(former?.process)
  const { status, body } = await living.post('/api/internal/token', { planId })
  expect(status).toBe(201)
  const applied = await living.post('/api/deploy/apply', { planId }, { 'x-deploy-capability': body.capability })
  expect([applied.status, applied.body.state]).toEqual([200, 'applied'])
})

test('a copied state folder is refused while the original runs, and starts with a name of its own', {
  timeout: 240_000,
}, async () => {
  const original = await start('original', 23)
  const copy = join(lab.folder, 'copy')
  cpSync(original.stateDir, copy, { recursive: true, preserveTimestamps: true })
  chmodSync(copy, 0o700)
  await expect(start('copy', 24)).rejects.toThrow(`belongs to a service that runs at ${original.origin}`)
  expect((await original.get('/readyz')).status).toBe(200)
  expect((await lab.store.liveInstances(Date.now())).map(({ address }) => address)).toEqual([original.origin])
  rmSync(join(copy, 'instance.json'))
  await start('copy', 24)
  const names = (await lab.store.liveInstances(Date.now())).map(({ name }) => name)
  expect(new Set(names).size).toBe(2)
})

const APPLIES = 60

const rollingRestart = async () => {
  const instances = [...(await pair())]
  const origins = () => instances
  const outcomes: { planId: string; host: string; status: number }[] = []
  let next = 0
  /** As a caller does that knows both addresses: what is refused for now is sent to the other one. */
  const work = async () => {
    for (let i = next++; i < APPLIES; i = next++) outcomes.push(await applyOnce(origins, `rolling-${i}`, i))
  }
  const stream = Promise.all([work(), work()])
  for (const [at, [name, last]] of (
    [
      ['first', 23],
      ['second', 24],
    ] as const
  ).entries()) {
    await until('the stream has begun', () => outcomes.length > at * 3)
    await instances[at]?.daemon.stop()
    instances[at] = await start(name, last)
  }
  await stream
  const edge = lab.lab.description.edges.primary
  const applied = outcomes.filter(({ status }) => status === 200)
  expect(applied).toHaveLength(APPLIES)
  for (const { planId } of applied) {
    const runs = await lab.store.runsOf(planId)
    expect(runs.filter(({ state }) => state === 'succeeded')).toHaveLength(1)
    expect(runs.filter(({ state }) => state !== 'succeeded' && state !== 'rolled_back')).toEqual([])
  }
  const hosts = [...viewOf(edge).hosts.keys()].filter((host) => host.startsWith('rolling-'))
  expect(hosts.toSorted()).toEqual(applied.map(({ host }) => host).toSorted())
}
if (process.env.CAMPAIGN)
  test(
    'a rolling restart of both under a stream of applies loses none and doubles none',
    {
      timeout: 600_000,
    },
    rollingRestart,
  )

async function applyOnce(instances: () => readonly RunningInstance[], subdomain: string, at: number) {
  for (let attempt = at; ; attempt += 1) {
    const instance = instances()[attempt % 2]
    if (!instance) continue
    try {
      const { planId, host, right } = await grantedPlan(instance, subdomain)
      const { status } = await instance.post('/api/deploy/apply', { planId }, right)
      if (status === 200) return { planId, host, status }
      await until('the plan is settled', async () => isSettled((await lab.store.findPlan(planId))?.state))
    } catch {
      // No answer. The run, if there is one, goes on: what became of it is in the store.
      const plan = (await lab.store.listPlans({ limit: 200 })).find(({ host }) => host === `${subdomain}.lab.test`)
      if (!plan) continue
      await until('the plan is settled', async () => isSettled((await lab.store.findPlan(plan.planId))?.state))
      if ((await lab.store.findPlan(plan.planId))?.state === 'applied')
        return { planId: plan.planId, host: plan.host, status: 200 }
    }
  }
}

const isSettled = (state: string | undefined): boolean => state !== 'applying' && state !== 'removing'
