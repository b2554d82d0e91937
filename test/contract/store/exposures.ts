import { beforeEach, describe, expect, it } from 'vitest'
import { PLAN_STATES, type PlanState } from '../../../src/model/exposure.ts'
import type { Receipt } from '../../../src/model/receipt.ts'
import { type Exposure, eachExposure } from '../../../src/store/ports/exposures.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import type { Bench } from '../engines.ts'
import { NOW, samplePlan } from '../samples.ts'

const receiptWith = (...values: string[]): Receipt => ({
  version: 2,
  records: values.map((value) => ({ name: 'shop.lab.test', type: 'TXT', ttl: 60, value })),
})

export const exposureSuite = (on: Bench) =>
  describe('exposures', () => {
    const host = 'shop.lab.test'
    const mine: Exposure = { host, planId: 'plan_mine', state: 'applying', fence: 3, since: NOW }
    let store: Store
    beforeEach(async () => {
      store = await on.open()
      await store.insertPlan(samplePlan({ planId: 'plan_mine' }))
      await store.insertPlan(samplePlan({ planId: 'plan_other' }))
    })

    it('are read as they were written', async () => {
      expect(await store.findExposure(host)).toBeUndefined()
      expect(await store.insertExposure(mine)).toBe(true)
      expect(await store.findExposure(host)).toStrictEqual(mine)
    })

    it('are read with their receipt and their expiry', async () => {
      const full = { ...mine, receipt: receiptWith('a\u0000b\ud800 🌉'), expiresAt: NOW + 1 }
      await store.insertExposure(full)
      expect(await store.findExposure(host)).toStrictEqual(full)
      expect(await Array.fromAsync(eachExposure(store))).toStrictEqual([full])
    })

    it('reserve a host against every other plan', async () => {
      await store.insertExposure(mine)
      expect(await store.insertExposure({ ...mine, planId: 'plan_other', fence: 9 })).toBe(false)
      expect(await store.findExposure(host)).toStrictEqual(mine)
    })

    it('are claimed by one of two concurrent plans', async () => {
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

    it('keep receipt and expiry when their plan claims them again', async () => {
      const full = { ...mine, receipt: receiptWith('a record'), expiresAt: NOW + 1 }
      await store.insertExposure(full)
      await store.insertExposure({ ...mine, fence: 4 })
      expect(await store.findExposure(host)).toStrictEqual({ ...full, fence: 4 })
      await store.insertExposure({ ...mine, fence: 5, receipt: receiptWith(), expiresAt: NOW + 2 })
      expect(await store.findExposure(host)).toStrictEqual({
        ...mine,
        fence: 5,
        receipt: receiptWith(),
        expiresAt: NOW + 2,
      })
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

    it('are listed by host', async () => {
      expect(await Array.fromAsync(eachExposure(store))).toStrictEqual([])
      const all = ['a', 'b', 'c'].map((name) => ({ ...mine, host: name }))
      for (const i of [1, 2, 0]) await store.insertExposure(all[i] ?? mine)
      expect(await Array.fromAsync(eachExposure(store))).toStrictEqual(all)
      expect(await store.listExposures({ after: '', limit: 2 })).toStrictEqual(all.slice(0, 2))
      expect(await store.listExposures({ after: 'b', limit: 2 })).toStrictEqual(all.slice(2))
    })

    it('get and lose an expiry, for their own plan only', async () => {
      await store.insertExposure(mine)
      expect(await store.setExposureExpiry(host, 'plan_other', NOW + 1)).toBe(false)
      expect(await store.setExposureExpiry('other.lab.test', 'plan_mine', NOW + 1)).toBe(false)
      expect(await store.findExposure(host)).toStrictEqual(mine)
      expect(await store.setExposureExpiry(host, 'plan_mine', NOW + 1)).toBe(true)
      expect(await store.findExposure(host)).toStrictEqual({ ...mine, expiresAt: NOW + 1 })
      expect(await store.setExposureExpiry(host, 'plan_mine', undefined)).toBe(true)
      expect(await store.findExposure(host)).toStrictEqual(mine)
    })

    it('are extended only while they are applied and have an expiry, and never shortened', async () => {
      await store.insertExposure({ ...mine, state: 'applied' })
      const prolong = (expiresAt: number, planId = 'plan_mine') => store.prolongExposure(host, planId, expiresAt)
      expect(await prolong(NOW + 9)).toBe(false)
      await store.setExposureExpiry(host, 'plan_mine', NOW + 5)
      expect(await prolong(NOW + 4)).toBe(false)
      expect(await prolong(NOW + 9, 'plan_other')).toBe(false)
      const attempts = Array.from({ length: 20 }, (_, i) => prolong(NOW + ((i * 7) % 20)))
      await Promise.all(attempts)
      expect((await store.findExposure(host))?.expiresAt).toBe(NOW + 19)
      await store.moveExposure(host, 'plan_mine', 3, 'removing', NOW)
      expect(await prolong(NOW + 99)).toBe(false)
    })

    it('get a receipt only for their plan and not under an older fence', async () => {
      await store.insertExposure(mine)
      expect(await store.setExposureReceipt(host, 'plan_other', receiptWith(), 9)).toBe(false)
      expect(await store.setExposureReceipt(host, 'plan_mine', receiptWith(), 2)).toBe(false)
      expect(await store.findExposure(host)).toStrictEqual(mine)
      expect(await store.setExposureReceipt(host, 'plan_mine', receiptWith('A'), 3)).toBe(true)
      expect(await store.setExposureReceipt(host, 'plan_mine', receiptWith('AAAA'), 4)).toBe(true)
      expect(await store.setExposureReceipt(host, 'plan_mine', receiptWith('A'), 3)).toBe(false)
      expect(await store.findExposure(host)).toStrictEqual({ ...mine, fence: 4, receipt: receiptWith('AAAA') })
    })

    it('go over to another plan only from their own, and not under an older fence', async () => {
      await store.insertExposure({ ...mine, expiresAt: NOW + 1, receipt: receiptWith('A') })
      const next = { ...mine, planId: 'plan_other', state: 'applied' as const, fence: 4, receipt: receiptWith('B') }
      expect(await store.replaceExposure('plan_third', next)).toBe(false)
      expect(await store.replaceExposure('plan_mine', { ...next, fence: 2 })).toBe(false)
      expect(await store.replaceExposure('plan_mine', next)).toBe(true)
      expect(await store.findExposure(host)).toStrictEqual(next)
    })

    it('are due from their expiry while they are applied, oldest first', async () => {
      const insert = (name: string, expiresAt: number | undefined, state: PlanState) =>
        store.insertExposure({ ...mine, host: name, state, expiresAt })
      const due = async (now: number) => (await store.exposuresDue(now)).map((exposure) => exposure.host)
      for (const state of PLAN_STATES) await insert(state, NOW, state)
      await insert('earlier', NOW - 1, 'applied')
      await insert('later', NOW + 1, 'applied')
      await insert('endless', undefined, 'applied')
      expect(await due(NOW - 2)).toStrictEqual([])
      expect(await due(NOW)).toStrictEqual(['earlier', 'applied'])
      expect(await due(NOW + 1)).toStrictEqual(['earlier', 'applied', 'later'])
      expect((await store.exposuresDue(NOW - 1))[0]).toStrictEqual(await store.findExposure('earlier'))
    })
  })
