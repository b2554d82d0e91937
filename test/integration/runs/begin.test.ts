import { expect, test } from 'vitest'
import type { Plan } from '../../../src/model/exposure.ts'
import { BY_SCHEDULE, hostLease, type RunAction } from '../../../src/model/run.ts'
import { begin } from '../../../src/runs/engine/begin.ts'
import { storeOfFile } from '../../support/fresh.ts'
import { appliedPlan } from '../../support/saga.ts'

const AT = 1_000_000

const { store } = await storeOfFile()

const begun = (action: RunAction, plan: Plan) =>
  store.transaction((session) =>
    begin({ action, plan, origin: BY_SCHEDULE, instance: 'me', leaseMs: 30_000, at: AT }, session),
  )

const applied = () => appliedPlan(store, AT)

test('a host that another plan exposes is not applied over', async () => {
  const plan = await applied()
  const other: Plan = { ...plan, planId: `${plan.planId.slice(0, -1)}z`, state: 'planned' }
  await store.insertPlan(other)
  await expect(begun('apply', other)).rejects.toMatchObject({ code: 'dns_name_taken' })
  expect(await store.findExposure(plan.host)).toMatchObject({ planId: plan.planId })
  expect(await store.findPlan(other.planId)).toMatchObject({ state: 'planned' })
})

test('a plan that is not applied is not removed', async () => {
  const plan = await applied()
  await store.movePlan(plan.planId, ['applied'], 'removed')
  await expect(begun('remove', plan)).rejects.toMatchObject({ code: 'plan_not_applied' })
})

test('a host that an unfinished run has claimed is not changed, although no lease lives', async () => {
  const plan = await applied()
  await store.claimExposure(plan.host, plan.planId, 'run_of_another', 1)
  await expect(begun('repair', plan)).rejects.toMatchObject({ code: 'plan_busy' })
  expect(await store.findExposure(plan.host)).toMatchObject({ runId: 'run_of_another' })
})

test('a converge takes no lease of a host that is exposed again', async () => {
  const [plan, again] = [await applied(), await applied()]
  const { leases } = await store.transaction((session) =>
    begin(
      {
        ...{ action: 'converge', plan, orphans: [again.host, 'gone.lab.test'], origin: BY_SCHEDULE },
        ...{ instance: 'me', leaseMs: 30_000, at: AT },
      },
      session,
    ),
  )
  expect(leases.map(({ name }) => name)).toEqual([hostLease(plan.host), hostLease('gone.lab.test')])
  expect(await store.findLease(hostLease(again.host), AT)).toBeUndefined()
})
