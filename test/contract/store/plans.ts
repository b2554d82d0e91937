import { describe, expect, it } from 'vitest'
import type { Bench } from '../engines.ts'
import { NOW, samplePlan } from '../samples.ts'

export function planSuite(on: Bench): void {
  describe('plans', () => {
    it('are read exactly as they were written', async () => {
      const store = await on.open()
      await store.insertPlan(samplePlan())
      expect(await store.findPlan(samplePlan().planId)).toStrictEqual(samplePlan())
      expect(await store.findPlan('plan_another')).toBeUndefined()
    })

    it('are read together, those that exist', async () => {
      const store = await on.open()
      const plans = ['plan_1', 'plan_2', 'plan_3'].map((planId) => samplePlan({ planId }))
      for (const plan of plans) await store.insertPlan(plan)
      const found = await store.findPlans(['plan_3', 'plan_gone', 'plan_1'])
      expect(found.toSorted((a, b) => (a.planId < b.planId ? -1 : 1))).toStrictEqual([plans[0], plans[2]])
      expect(await store.findPlans([])).toStrictEqual([])
    })

    it('are never overwritten', async () => {
      const store = await on.open()
      await store.insertPlan(samplePlan())
      await expect(store.insertPlan(samplePlan({ host: 'other.lab.test' }))).rejects.toThrow()
      expect((await store.findPlan(samplePlan().planId))?.host).toBe('shop.lab.test')
    })

    it('change state only from an expected state', async () => {
      const store = await on.open()
      const { planId } = samplePlan()
      await store.insertPlan(samplePlan())
      expect(await store.movePlan(planId, ['applied'], 'removing')).toBe(false)
      expect((await store.findPlan(planId))?.state).toBe('planned')
      expect(await store.movePlan(planId, ['rolled_back', 'planned'], 'applying')).toBe(true)
      expect(await store.findPlan(planId)).toStrictEqual(samplePlan({ state: 'applying' }))
      expect(await store.movePlan('plan_another', ['planned'], 'applying')).toBe(false)
    })

    it('are listed in pages, newest first, in a fixed order within one moment', async () => {
      const store = await on.open()
      expect(await store.listPlans({ limit: 10 })).toStrictEqual([])
      const plans = [NOW + 2, NOW + 1, NOW + 1, NOW + 1, NOW].map((createdAt, i) =>
        samplePlan({ planId: `plan_${9 - i}`, createdAt }),
      )
      for (const i of [3, 0, 4, 2, 1]) await store.insertPlan(plans[i] ?? samplePlan())
      expect(await store.listPlans({ limit: 10 })).toStrictEqual(plans)
      for (const [i, before] of plans.entries()) {
        expect(await store.listPlans({ before, limit: 2 })).toStrictEqual(plans.slice(i + 1, i + 3))
      }
      expect(await store.listPlans({ before: { createdAt: NOW + 1, planId: 'plan_gone' }, limit: 1 })).toStrictEqual([
        plans[1],
      ])
    })

    it('change state for one of many concurrent attempts', async () => {
      const [one, two] = [await on.open(), await on.open()]
      await one.insertPlan(samplePlan())
      const moves = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          (i % 2 ? one : two).movePlan(samplePlan().planId, ['planned'], 'applying'),
        ),
      )
      expect(moves.filter(Boolean)).toHaveLength(1)
    })
  })
}
