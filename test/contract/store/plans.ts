import { describe, expect } from 'vitest'
import type { Bench } from '../engines.ts'
import { NOW, samplePlan } from '../samples.ts'

export const planSuite = (on: Bench) =>
  describe('plans', () => {
    on.it('are read exactly as they were written', async (store) => {
      await store.insertPlan(samplePlan())
      expect(await store.findPlan(samplePlan().planId)).toStrictEqual(samplePlan())
      expect(await store.findPlan('plan_another')).toBeUndefined()
    })

    on.it('are read together, those that exist', async (store) => {
      const plans = ['plan_1', 'plan_2', 'plan_3'].map((planId) => samplePlan({ planId }))
      for (const plan of plans) await store.insertPlan(plan)
      const found = await store.findPlans(['plan_3', 'plan_gone', 'plan_1'])
      expect(found.toSorted((a, b) => (a.planId < b.planId ? -1 : 1))).toStrictEqual([plans[0], plans[2]])
      expect(await store.findPlans([])).toStrictEqual([])
    })

    on.it('are never overwritten', async (store) => {
      await store.insertPlan(samplePlan())
      await expect(store.insertPlan(samplePlan({ host: 'other.lab.test' }))).rejects.toThrow()
      expect((await store.findPlan(samplePlan().planId))?.host).toBe('shop.lab.test')
    })

    on.it('change state only from an expected state', async (store) => {
      const { planId } = samplePlan()
      await store.insertPlan(samplePlan())
      expect(await store.movePlan(planId, ['applied'], 'removing')).toBe(false)
      expect((await store.findPlan(planId))?.state).toBe('planned')
      expect(await store.movePlan(planId, ['rolled_back', 'planned'], 'applying')).toBe(true)
      expect(await store.findPlan(planId)).toStrictEqual(samplePlan({ state: 'applying' }))
      expect(await store.movePlan('plan_another', ['planned'], 'applying')).toBe(false)
    })

    on.it('are listed in pages, newest first, in a fixed order within one moment', async (store) => {
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

    on.it('change state for one of many concurrent attempts', async (one, two) => {
      await one.insertPlan(samplePlan())
      const moves = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          (i % 2 ? one : two).movePlan(samplePlan().planId, ['planned'], 'applying'),
        ),
      )
      expect(moves.filter(Boolean)).toHaveLength(1)
    })
  })
