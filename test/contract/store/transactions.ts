import { describe, expect, it } from 'vitest'
import { verifyAudit } from '../../../src/operate/audit-verify.ts'
import type { StoreSession } from '../../../src/store/ports/store.ts'
import type { Bench } from '../engines.ts'
import { NOW, sampleCapability, sampleEntry, sampleExposure, samplePlan } from '../samples.ts'

export function transactionSuite(on: Bench): void {
  const everything = async (session: StoreSession) => {
    await session.insertPlan(samplePlan())
    await session.insertCapability(sampleCapability())
    await session.insertExposure(sampleExposure())
    await session.takeLease('host/shop.lab.test', 'one', NOW, 1_000)
    await session.appendAudit(sampleEntry())
  }

  describe('a transaction', () => {
    it('commits everything when its work succeeds, and returns its result', async () => {
      const store = await on.open()
      const answer = await store.transaction(async (session) => {
        await everything(session)
        expect(await session.findPlan(samplePlan().planId)).toStrictEqual(samplePlan())
        return 'done'
      })
      expect(answer).toBe('done')
      expect(await store.findPlan(samplePlan().planId)).toStrictEqual(samplePlan())
      expect(await verifyAudit(store)).toMatchObject({ ok: true, lines: 1 })
    })

    it('commits nothing when its work fails', async () => {
      const store = await on.open()
      await store.appendAudit(sampleEntry())
      const failing = store.transaction(async (session) => {
        await everything(session)
        throw new Error('something went wrong')
      })
      await expect(failing).rejects.toThrow('something went wrong')
      for (const table of ['plans', 'capabilities', 'exposures', 'leases']) {
        expect(await on.sql(`select * from ${table}`)).toStrictEqual([])
      }
      expect(await verifyAudit(store)).toMatchObject({ ok: true, lines: 1 })
      await store.appendAudit(sampleEntry())
      expect(await verifyAudit(store)).toMatchObject({ ok: true, lines: 2, last: 2 })
    })

    it('rejects with the error of its work', async () => {
      const store = await on.open()
      const own = Object.assign(new Error('connection timeout'), { syscall: 'connect' })
      await expect(store.transaction(() => Promise.reject(own))).rejects.toBe(own)
    })

    it('rejects with the reason of a failed statement, and commits nothing', async () => {
      const store = await on.open()
      await store.insertPlan(samplePlan())
      const failing = store.transaction(async (session) => {
        await session.appendAudit(sampleEntry())
        await session.insertPlan(samplePlan())
      })
      await expect(failing).rejects.toThrow(/unique/i)
      expect(await store.auditHead()).toBeUndefined()
    })

    it('is visible to others only after its commit', async () => {
      const [one, two] = [await on.open(), await on.open()]
      await one.transaction(async (session) => {
        await session.insertPlan(samplePlan())
        expect(await two.findPlan(samplePlan().planId)).toBeUndefined()
      })
      expect(await two.findPlan(samplePlan().planId)).toStrictEqual(samplePlan())
    })
  })
}
