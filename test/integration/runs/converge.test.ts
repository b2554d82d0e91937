import { beforeEach, describe, expect, test } from 'vitest'
import type { EdgeAnswer } from '../../../src/edge/contract/visit.ts'
import type { Plan, PlanState } from '../../../src/model/exposure.ts'
import { receiptOf } from '../../../src/model/receipt.ts'
import type { Run, RunAction } from '../../../src/model/run.ts'
import { localEdge } from '../../../src/nginx/local-edge.ts'
import type { Converge, ConvergeParts } from '../../../src/runs/converge.ts'
import { EdgeStandings } from '../../../src/runs/edge-standings.ts'
import { convergeStep } from '../../../src/runs/steps/converge.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { convergeOn } from '../../support/converge.ts'
import { PLAN_ID } from '../../support/edge/edge.ts'
import { FakeEdge } from '../../support/edge/fake-edge.ts'
import { debianSite, startOwnNginx } from '../../support/edge/own-nginx.ts'
import { storeOfTest } from '../../support/fresh.ts'
import { anotherPlan, appliedPlan, newRun, nextFence } from '../../support/saga.ts'

const AT = 1_000_000
const OTHER_PLAN = `plan_${'1'.repeat(26)}`

let store: Store
let primary: FakeEdge
let secondary: FakeEdge
let standings: EdgeStandings

beforeEach(async () => {
  store = (await storeOfTest()).store
  primary = new FakeEdge('23')
  secondary = new FakeEdge('73')
  standings = new EdgeStandings(() => AT)
})

const newConverge = (limits: Pick<ConvergeParts, 'mostHosts'> = {}): Converge =>
  convergeOn({ store, primary, secondary, standings, now: () => AT, ...limits })

/** One look at both edges. Resolves with why the Secondary is not in step. */
async function look(converge = newConverge()): Promise<string | undefined> {
  await converge.reconcile()
  return standings.of('73')?.outOfStep?.cause
}

/** An exposure that was applied to the Primary. */
async function exposed(): Promise<Plan> {
  const plan = await appliedPlan(store, AT)
  primary.put(plan.host, plan.planId)
  primary.fences.push({ host: plan.host, epoch: await store.epoch(), number: 1 })
  await store.setExposureReceipt(plan.host, plan.planId, receiptOf({}), 1)
  return plan
}

/** A host that a run has removed, and that the Secondary still has. `epoch`: of the fence that the Primary has. */
async function removed(epoch?: number): Promise<string> {
  const { runId, planId, host } = await newRun(store, 'remove')
  await store.finishRun(runId, 'succeeded', AT, 1)
  await store.movePlan(planId, ['removing'], 'removed')
  secondary.put(host, planId)
  if (epoch !== undefined) primary.fences.push({ host, epoch, number: 1 })
  return host
}

/** A run that has ended, of an earlier plan than the one of `of`. */
async function earlierRun(of: Run, action: RunAction, state: PlanState): Promise<Plan> {
  const plan = await anotherPlan(store, of.planId, state)
  const { finishedAt: _end, ...run } = { ...of, runId: `run_${plan.digest}`, planId: plan.planId, action, fence: 0 }
  await store.insertRun({ ...run, state: 'running' })
  await store.finishRun(run.runId, 'succeeded', AT, 0)
  return plan
}

const several = <T>(count: number, make: () => Promise<T>) => Promise.all(Array.from({ length: count }, make))

test('lines of no host are told of their edge while they are there, also when nothing else has changed', async () => {
  await exposed()
  const converge = newConverge()
  for (let looks = 0; looks < 3; looks += 1) await look(converge)
  const stray = { file: 'current/backends/12.map', lines: [4] }
  for (const expected of [[stray], []]) {
    primary.stray.splice(0, 1, ...expected)
    expect(await look(converge)).toBeUndefined()
    expect(standings.all.map((edge) => edge.stray)).toEqual([expected, []])
  }
  expect(primary.changes).toBe(0)
})

describe('the Secondary', () => {
  test('gets what it missed, and loses every host that a run of this store has removed', async () => {
    const { host } = await exposed()
    const epoch = await store.epoch()
    await several(5, () => removed(epoch))
    expect(await look()).toBeUndefined()
    expect(secondary.hosts).toEqual([host])
  })

  test.each([
    ['where no run proves it', undefined],
    ['by the fences of another store', 1],
  ])('loses few hosts by itself %s, and many only by a person', async (_, epoch) => {
    const [few, many] = [3, 4]
    await several(few, () => removed(epoch))
    expect([await look(), secondary.hosts]).toEqual([undefined, []])
    const hosts = await several(many, () => removed(epoch))
    expect(await look()).toBe('removal_refused')
    expect(secondary.hosts.toSorted()).toEqual(hosts.toSorted())
  })

  test('loses hosts that were updated and then removed while it was away', async () => {
    const epoch = await store.epoch()
    for (let i = 0; i < 5; i += 1) {
      const run = await newRun(store, 'remove')
      await store.finishRun(run.runId, 'succeeded', AT, 1)
      await store.movePlan(run.planId, ['removing'], 'removed')
      const former = await earlierRun(run, 'apply', 'replaced')
      await earlierRun(run, 'update', 'removed')
      secondary.put(run.host, former.planId)
      primary.fences.push({ host: run.host, epoch, number: 1 })
    }
    expect([await look(), secondary.hosts]).toEqual([undefined, []])
  })

  test('keeps hosts that are newer than the store: it neither loses nor overwrites them', async () => {
    const gone = await removed(await store.epoch())
    const { host } = await exposed()
    for (const each of [gone, host]) {
      await nextFence(store, each, AT)
      primary.fences.push({ host: each, epoch: await store.epoch(), number: 2 })
    }
    expect([await look(), secondary.hosts, secondary.changes]).toEqual([undefined, [gone], 0])
    expect(standings.of('73')?.unknown.toSorted()).toEqual([gone, host].toSorted())
    for (const each of [gone, host]) await nextFence(store, each, AT)
    expect([await look(newConverge()), secondary.hosts]).toEqual([undefined, [host]])
  })

  test('keeps a host that was applied again after it was found there', async () => {
    const epoch = await store.epoch()
    const [gone, ...hosts] = [await removed(epoch), await removed(epoch)]
    // Between the look and the run, one of them is applied by a new plan.
    let calls = 0
    secondary.beforeRun = async () => {
      calls += 1
      if (calls !== 2) return
      for (const host of hosts) {
        const [former] = (await store.listPlans({ limit: 100 })).filter((plan) => plan.host === host)
        const { planId } = await anotherPlan(store, former?.planId ?? '', 'applied')
        await store.insertExposure({ host, planId, state: 'applied', fence: 2, since: AT })
        secondary.put(host, planId)
      }
    }
    await look()
    expect([gone, ...secondary.hosts]).toEqual([expect.any(String), ...hosts])
  })

  test('keeps hosts that the store does not know, and entries that others wrote', async () => {
    const { host } = await exposed()
    secondary.put('theirs.lab.test', PLAN_ID)
    secondary.put(host, primary.planOf(host) ?? '')
    secondary.edit(host)
    expect(await look()).toBeUndefined()
    expect([secondary.changes, secondary.mostItems]).toEqual([0, 0])
    expect(standings.of('73')?.unknown).toEqual(['theirs.lab.test'])
  })

  test('is left alone where a run changes the host', async () => {
    const { host, planId } = await exposed()
    await store.claimExposure(host, planId, 'run_of_another', 1)
    expect(await look()).toBeUndefined()
    expect(secondary.changes).toBe(0)
  })

  test.each<[string, EdgeAnswer]>([
    ['nginx does not answer', { kind: 'no_answer', reason: 'refused' }],
    ['another program answers', { kind: 'answer', httpStatus: 200, latencyMs: 1 }],
  ])('is waited for while %s', async (_, answer) => {
    const { host } = await exposed()
    secondary.answer = answer
    expect([await look(), secondary.changes]).toEqual(['away', 0])
    secondary.answer = { kind: 'no_answer', reason: 'unknown_host' }
    expect([await look(), secondary.hosts]).toEqual([undefined, [host]])
  })

  test('is in step beside the default site of Debian, and is told apart from it', async () => {
    await using own = await startOwnNginx((at) => ({ 'sites-enabled/default': debianSite(at) }))
    const edge = localEdge(own)
    secondary.ask = edge.ask
    const { host } = await exposed()
    expect([await look(), secondary.hosts]).toEqual(['away', []])
    expect(standings.of('73')?.outOfStep?.sentence).toBe(
      'The default server of 192.168.45.73:80 answered in place of Drawbridge.',
    )
    expect(standings.warnings.map(({ sentence }) => sentence)).toEqual([
      expect.stringMatching(/^Edge 73 cannot be brought into step with the store \(away\)/),
    ])
    await edge.prepare()
    expect([await look(), secondary.hosts, standings.warnings]).toEqual([undefined, [host], []])
  })

  test('gets what is missing of an entry there, in one change with what it missed', async () => {
    const [absent, former] = [await exposed(), await exposed()]
    secondary.put(former.host, (await replacedPlan(former)).planId)
    expect(await look()).toBeUndefined()
    expect([absent, former].map(({ host }) => secondary.planOf(host))).toEqual([absent.planId, former.planId])
    expect([secondary.changes, primary.changes]).toEqual([1, 0])
  })
})

/** A plan that the one of an exposure has replaced. */
const replacedPlan = ({ planId }: Plan): Promise<Plan> => anotherPlan(store, planId, 'replaced')

test('an edit on the Secondary stays when the host has got another plan meanwhile', async () => {
  const [ours, edited] = [await exposed(), await exposed()]
  for (const plan of [ours, edited]) secondary.put(plan.host, (await replacedPlan(plan)).planId)
  secondary.edit(edited.host)
  const byHand = secondary.standing.get(edited.host)
  expect(await look()).toBeUndefined()
  expect(secondary.planOf(ours.host)).toBe(ours.planId)
  expect(secondary.standing.get(edited.host)).toBe(byHand)
  const { changes } = secondary
  await look(newConverge())
  expect(secondary.changes).toBe(changes)
})

test('what the Primary lost or somebody edited there is drift, and left to a repair', async () => {
  const [lost, edited] = [await exposed(), await exposed()]
  for (const { host, planId } of [lost, edited]) secondary.put(host, planId)
  primary.standing.delete(lost.host)
  primary.edit(edited.host)
  expect(await look()).toBeUndefined()
  expect([primary.hosts, primary.changes, secondary.changes]).toEqual([[edited.host], 0, 0])
})

test('no message grows with the number of hosts', async () => {
  const hosts = (await several(5, exposed)).map(({ host }) => host)
  const epoch = await store.epoch()
  await several(5, () => removed(epoch))
  expect(await look(newConverge({ mostHosts: 2 }))).toBeUndefined()
  expect(secondary.hosts.toSorted()).toEqual(hosts.toSorted())
  expect([secondary.changes, secondary.mostItems]).toEqual([3, 4])
})

test('a run removes no entry of another plan than it was told', async () => {
  secondary.put('again.lab.test', OTHER_PLAN)
  await stepFor(['again.lab.test'], { 'again.lab.test': PLAN_ID })
  expect(secondary.hosts).toEqual(['again.lab.test'])
})

test('a run removes no host but those that it was told to', async () => {
  for (const host of ['told.lab.test', 'other.lab.test']) secondary.put(host, PLAN_ID)
  await stepFor(['told.lab.test'], { 'told.lab.test': PLAN_ID, 'other.lab.test': PLAN_ID })
  expect(secondary.hosts).toEqual(['other.lab.test'])
})

/** The step of a run that has the leases of all hosts on the Secondary. */
async function stepFor(removes: readonly string[], removedPlans: Readonly<Record<string, string>>): Promise<void> {
  const fences = secondary.hosts.map((host) => ({ host, epoch: 1, number: 1 }))
  const guard = {
    assertHeld: () => undefined,
    ensureHeld: async () => undefined,
    leftMs: 1,
    fences,
    run: { run: 'run_a', store: 'store_a' },
    signal: new AbortController().signal,
  }
  const step = convergeStep({
    ...{ edge: secondary.edge, members: [], removes, removedPlans, guard },
    store: { findPlan: async () => undefined },
    entryFor: () => Promise.reject(new Error('Nothing is written here.')),
    onCrashPoint: () => undefined,
  })
  await step.do(null, {}, async () => undefined)
}
