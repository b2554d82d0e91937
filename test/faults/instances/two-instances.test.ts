import { chmodSync, cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { serves, viewOf } from '../../support/edge/edge-folder.ts'
import { grantedPlan, type InstanceLab, type RunningInstance, startInstanceLab } from '../../support/lab/instances.ts'
import { until } from '../../support/until.ts'

/** Two services on one PostgreSQL, both active, with the settings that an installation has without saying anything. */
const USES = 200
const ROUNDS = process.env.CAMPAIGN ? 50 : 1
const TAKEN_OVER_MS = 10_000

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

test('the runs of an instance that was killed are taken over and ended within ten seconds', {
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
  const killedAt = Date.now()
  process.kill(dying.daemon.pid, 'SIGKILL')
  await until(
    'the other instance has ended the run',
    async () => (await lab.store.unfinishedRuns()).length === 0,
    60_000,
  )
  const [run] = await lab.store.runsOf(planId)
  expect(run).toMatchObject({ state: 'rolled_back' })
  expect((run?.finishedAt ?? Number.POSITIVE_INFINITY) - killedAt).toBeLessThan(TAKEN_OVER_MS)
  expect(await serves(lab.lab.description.edges.primary, host)).toBe(false)
  expect(living.log()).toContain('"event":"run_recovered"')
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

test('an instance that was killed takes its name up again at once', { timeout: 240_000 }, async () => {
  const first = await start('again', 23)
  const [before] = await lab.store.liveInstances(Date.now())
  process.kill(first.daemon.pid, 'SIGKILL')
  await first.daemon.exited
  await start('again', 23)
  const [after] = await lab.store.liveInstances(Date.now())
  expect(after?.name).toBe(before?.name)
  expect(after?.process).not.toBe(before?.process)
})

const APPLIES = process.env.CAMPAIGN ? 60 : 10

test('a rolling restart of both under a stream of applies loses none and doubles none', {
  timeout: 600_000,
}, async () => {
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
    await until('the stream has begun', () => outcomes.length > at * 3, 60_000)
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
})

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
      await until('the plan is settled', async () => isSettled((await lab.store.findPlan(plan.planId))?.state), 60_000)
      if ((await lab.store.findPlan(plan.planId))?.state === 'applied')
        return { planId: plan.planId, host: plan.host, status: 200 }
    }
  }
}

const isSettled = (state: string | undefined): boolean => state !== 'applying' && state !== 'removing'
