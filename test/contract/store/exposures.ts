import { beforeEach, describe, expect, it } from 'vitest'
import type { Exposure, Store } from '../../../src/store/contract.ts'
import type { Bench } from '../engines.ts'
import { NOW, samplePlan } from '../samples.ts'

export function exposureSuite(on: Bench): void {
  describe('exposures', () => {
    const host = 'shop.lab.test'
    const mine: Exposure = { host, planId: 'plan_mine', state: 'applying', fence: 3, since: NOW }
    let store: Store
    beforeEach(async () => {
      store = await on.open()
      await store.insertPlan(samplePlan({ planId: 'plan_mine' }))
      await store.insertPlan(samplePlan({ planId: 'plan_other' }))
    })

    it('come back as they were put in', async () => {
      expect(await store.findExposure(host)).toBeUndefined()
      expect(await store.insertExposure(mine)).toBe(true)
      expect(await store.findExposure(host)).toStrictEqual(mine)
    })

    it('hold a host against every other plan', async () => {
      await store.insertExposure(mine)
      expect(await store.insertExposure({ ...mine, planId: 'plan_other', fence: 9 })).toBe(false)
      expect(await store.findExposure(host)).toStrictEqual(mine)
    })

    it('are claimed by one of two plans that try at once', async () => {
      const second = await on.open()
      const claims = await Promise.all([
        store.insertExposure(mine),
        second.insertExposure({ ...mine, planId: 'plan_other' }),
      ])
      expect(claims.filter(Boolean)).toHaveLength(1)
    })

    it('may be claimed again by their own plan under a later fence, not an earlier one', async () => {
      await store.insertExposure(mine)
      expect(await store.insertExposure({ ...mine, fence: 2 })).toBe(false)
      expect(await store.insertExposure({ ...mine, fence: 4, since: NOW + 1 })).toBe(true)
      expect(await store.findExposure(host)).toStrictEqual({ ...mine, fence: 4, since: NOW + 1 })
    })

    it('move only for their plan and not under an older fence', async () => {
      await store.insertExposure(mine)
      expect(await store.moveExposure(host, 'plan_other', 9, 'applied', NOW + 1)).toBe(false)
      expect(await store.moveExposure(host, 'plan_mine', 2, 'applied', NOW + 1)).toBe(false)
      expect(await store.findExposure(host)).toStrictEqual(mine)
      expect(await store.moveExposure(host, 'plan_mine', 3, 'applied', NOW + 1)).toBe(true)
      expect(await store.moveExposure(host, 'plan_mine', 7, 'removing', NOW + 2)).toBe(true)
      expect(await store.moveExposure(host, 'plan_mine', 6, 'applied', NOW + 3)).toBe(false)
      expect(await store.findExposure(host)).toStrictEqual({ ...mine, state: 'removing', fence: 7, since: NOW + 2 })
    })

    it('are deleted only for their plan and not under an older fence', async () => {
      await store.insertExposure(mine)
      expect(await store.deleteExposure(host, 'plan_other', 9)).toBe(false)
      expect(await store.deleteExposure(host, 'plan_mine', 2)).toBe(false)
      expect(await store.findExposure(host)).toStrictEqual(mine)
      expect(await store.deleteExposure(host, 'plan_mine', 3)).toBe(true)
      expect(await store.findExposure(host)).toBeUndefined()
    })
  })
}
