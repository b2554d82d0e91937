import { beforeEach, expect, test } from 'vitest'
import { EdgeFault } from '../../../src/edge/contract/fault.ts'
import type { Plan } from '../../../src/model/exposure.ts'
import { receiptOf } from '../../../src/model/receipt.ts'
import type { Converge } from '../../../src/runs/converge.ts'
import { EdgeStandings } from '../../../src/runs/edge-standings.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { convergeOn } from '../../support/converge.ts'
import { FakeEdge } from '../../support/edge/fake-edge.ts'
import { storeOfTest } from '../../support/fresh.ts'
import { anotherPlan, appliedPlan } from '../../support/saga.ts'

/** Hosts that the Secondary refuses, although it takes others. */
const AT = 1_000_000
const LOOK_MS = 20_000

let store: Store
let primary: FakeEdge
let secondary: FakeEdge
let standings: EdgeStandings
let converge: Converge
let ms = 0

beforeEach(async () => {
  store = (await storeOfTest()).store
  primary = new FakeEdge('23')
  secondary = new FakeEdge('73')
  standings = new EdgeStandings(() => AT)
  ms = 0
  converge = convergeOn({ store, primary, secondary, standings, now: () => AT, monotonic: () => ms })
})

async function look(): Promise<string | undefined> {
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

test('a refused host begins a run after pauses that grow, and keeps no other host out of step', async () => {
  const plans = [await exposed(), await exposed()]
  const [refused, other] = plans
  secondary.refuses.add(refused?.host ?? '')
  const runs = async () => (await Promise.all(plans.map(({ planId }) => store.runsOf(planId)))).flat().length
  const begun: number[] = []
  for (; ms < 3_600_000; ms += LOOK_MS) {
    const before = await runs()
    expect(await look()).toBe('other')
    if ((await runs()) > before) begun.push(ms / LOOK_MS)
  }
  expect(begun.slice(0, 5)).toEqual([0, 1, 3, 7, 15])
  expect(begun.length).toBeLessThan(12)
  expect([secondary.hosts, standings.of('73')?.behind]).toEqual([[other?.host], [refused?.host]])
  const later = await exposed()
  expect([await look(), secondary.hosts]).toEqual(['other', [other?.host, later.host]])
  secondary.refuses.clear()
  ms += 600_000
  expect([await look(), standings.of('73')?.behind]).toEqual([undefined, []])
})

test.each<[string, (plan: Plan) => Promise<void>]>([
  ['a person asks', async () => converge.tryAll()],
  [
    'another plan has the host',
    async ({ host, planId }) => {
      const next = await anotherPlan(store, planId, 'applied')
      await store.deleteExposure(host, planId, 1)
      await store.insertExposure({ host, planId: next.planId, state: 'applied', fence: 2, since: AT })
      await store.setExposureReceipt(host, next.planId, receiptOf({}), 2)
    },
  ],
])('a refused host is tried at once when %s', async (_, change) => {
  const plan = await exposed()
  secondary.refuses.add(plan.host)
  await look()
  secondary.refuses.clear()
  expect([await look(), secondary.hosts]).toEqual(['other', []])
  await change(plan)
  expect([await look(), secondary.hosts]).toEqual([undefined, [plan.host]])
})

test('a host is tried at once when the edge is back', async () => {
  const { host } = await exposed()
  secondary.fault = new EdgeFault('away', 'The cable is cut.')
  expect(await look()).toBe('away')
  secondary.fault = undefined
  expect([await look(), secondary.hosts]).toEqual([undefined, [host]])
})

test('an edge whose files cannot be written begins a run every 40 s at most', async () => {
  const { planId } = await exposed()
  secondary.fault = new EdgeFault('write_failed', '/edge could not be read or written (ENOSPC).')
  for (; ms < 3_600_000; ms += 5_000) expect(await look()).toBe('disk_full')
  expect((await store.runsOf(planId)).length).toBeLessThan(100)
  secondary.fault = undefined
  ms += 40_000
  expect(await look()).toBeUndefined()
})
