import { describe, expect } from 'vitest'
import { verifyAudit } from '../../../src/operate/verify/audit.ts'
import { StaleFence } from '../../../src/store/ports/runs.ts'
import type { StoreSession } from '../../../src/store/ports/store.ts'
import type { Bench } from '../engines.ts'
import { NOW, sampleCapability, sampleEntry, sampleExposure, samplePlan, sampleRun, sampleStep } from '../samples.ts'

export function transactionSuite(on: Bench): void {
  const everything = async (session: StoreSession) => {
    await session.insertPlan(samplePlan())
    await session.insertCapability(sampleCapability())
    await session.insertExposure(sampleExposure())
    await session.takeLease('host/shop.lab.test', 'one', NOW, 1_000)
    await session.appendAudit(sampleEntry())
  }

  describe('a transaction', () => {
    on.it('commits everything when its work succeeds, and returns its result', async (store) => {
      const answer = await store.transaction(async (session) => {
        await everything(session)
        expect(await session.findPlan(samplePlan().planId)).toStrictEqual(samplePlan())
        return 'done'
      })
      expect(answer).toBe('done')
      expect(await store.findPlan(samplePlan().planId)).toStrictEqual(samplePlan())
      expect(await verifyAudit(store)).toMatchObject({ ok: true, lines: 1 })
    })

    on.it('commits nothing when its work fails', async (store) => {
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

    on.it('rejects with the error of its work', async (store) => {
      const own = Object.assign(new Error('connection timeout'), { syscall: 'connect' })
      await expect(store.transaction(() => Promise.reject(own))).rejects.toBe(own)
    })

    on.it('rejects with the reason of a failed statement, and commits nothing', async (store) => {
      await store.insertPlan(samplePlan())
      const failing = store.transaction(async (session) => {
        await session.appendAudit(sampleEntry())
        await session.insertPlan(samplePlan())
      })
      await expect(failing).rejects.toThrow(/unique/i)
      expect(await store.auditHead()).toBeUndefined()
    })

    on.it('is visible to others only after its commit', async (one, two) => {
      await one.transaction(async (session) => {
        await session.insertPlan(samplePlan())
        expect(await two.findPlan(samplePlan().planId)).toBeUndefined()
      })
      expect(await two.findPlan(samplePlan().planId)).toStrictEqual(samplePlan())
    })

    on.it('refuses work that calls the store instead of its session, and leaves the store usable', async (store) => {
      const nested = store.transaction(async (session) => {
        await session.insertPlan(samplePlan())
        await store.transaction((inner) => inner.appendAudit(sampleEntry()))
      })
      await expect(nested).rejects.toThrow('called the store instead of its session')
      const reading = store.transaction(() => store.findPlan(samplePlan().planId))
      await expect(reading).rejects.toThrow('called the store instead of its session')
      expect(await store.findPlan(samplePlan().planId)).toBeUndefined()
    })

    on.it('lets what its work began call the store after its end', async (store) => {
      const { promise: ended, resolve: end } = Promise.withResolvers<void>()
      const { later } = await store.transaction(async () => ({
        later: ended.then(() => store.insertPlan(samplePlan())),
      }))
      end()
      await later
      expect(await store.findPlan(samplePlan().planId)).toStrictEqual(samplePlan())
    })
  })

  describe('transactions that begin at the same moment', () => {
    const hostOf = (i: number) => `host-${i}.lab.test`
    const taken = async () => (await on.sql('select name from leases order by fence, name')).map((row) => row.name)

    on.it('fail alone: each gets its own error, and all others are committed', async (store) => {
      await store.insertPlan(samplePlan())
      await store.insertRun(sampleRun())
      await store.adoptRun(sampleRun(), 'two', 2)
      const own = new Error('something went wrong')
      const FAULTS: Record<number, (session: StoreSession) => Promise<unknown>> = {
        0: () => Promise.reject(own),
        3: (session) => session.insertPlan(samplePlan()),
        4: (session) => session.appendJournal(sampleStep(), 1),
        11: () => Promise.reject(own),
      }
      const outcomes = await Promise.allSettled(
        Array.from({ length: 12 }, (_, i) =>
          store.transaction(async (session) => {
            await session.takeLease(hostOf(i), 'one', NOW, 1_000)
            await session.appendAudit(sampleEntry())
            await FAULTS[i]?.(session)
            return i
          }),
        ),
      )
      const succeeded = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
      const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
      expect(succeeded).toStrictEqual([1, 2, 5, 6, 7, 8, 9, 10])
      expect(reasons).toStrictEqual([
        own,
        expect.objectContaining({ code: expect.any(String) }),
        expect.any(StaleFence),
        own,
      ])
      expect(await taken()).toStrictEqual(succeeded.map(hostOf).sort())
      expect(await verifyAudit(store)).toMatchObject({ ok: true, lines: succeeded.length })
    })

    on.it('are each committed when they resolve', async (store) => {
      const seen = Array.from({ length: 12 }, async (_, i) => {
        await store.transaction((session) => session.takeLease(hostOf(i), 'one', NOW, 1_000))
        return (await on.sql(`select holder from leases where name = '${hostOf(i)}'`)).length
      })
      expect(await Promise.all(seen)).toStrictEqual(Array.from({ length: 12 }, () => 1))
    })

    on.it('see what those before them have written', async (store) => {
      const fences = await Promise.all(
        Array.from({ length: 12 }, () =>
          store.transaction(async (session) => (await session.takeLease('name', 'one', NOW, 1_000))?.fence),
        ),
      )
      expect(fences.toSorted((a, b) => (a ?? 0) - (b ?? 0))).toStrictEqual(Array.from({ length: 12 }, (_, i) => i + 1))
    })
  })
}
