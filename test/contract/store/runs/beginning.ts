import { beforeEach, describe, expect, it } from 'vitest'
import { BY_SCHEDULE } from '../../../../src/model/run.ts'
import { begin as beginRun } from '../../../../src/runs/engine/begin.ts'
import type { Store, StoreSession } from '../../../../src/store/ports/store.ts'
import type { Bench } from '../../engines.ts'
import { NOW, presented, sampleCapability, sampleExposure, samplePlan, sampleRun, sampleStep } from '../../samples.ts'

const LEASE = 'host/shop.lab.test'

/** The first transaction of an apply. */
async function begin(session: StoreSession, attempt: string, hash = sampleCapability().hash): Promise<string> {
  const { host, planId } = samplePlan()
  const spent = await session.spendCapability(presented({ hash }), NOW)
  if (spent !== 'spent') throw new Error(`capability: ${spent}`)
  const lease = await session.takeLease(LEASE, attempt, NOW, 1_000)
  if (!lease) throw new Error('busy')
  if (!(await session.movePlan(planId, ['planned', 'rolled_back'], 'applying'))) throw new Error('not planned')
  if (!(await session.insertExposure(sampleExposure({ host, fence: lease.fence })))) throw new Error('held')
  await session.insertRun(sampleRun({ runId: attempt, holder: attempt, fence: lease.fence }))
  await session.appendJournal(sampleStep({ runId: attempt, step: 'begin' }), lease.fence)
  return attempt
}

export function beginningSuite(on: Bench): void {
  describe('the beginning of an apply', () => {
    const { host, planId } = samplePlan()
    let store: Store
    beforeEach(async () => {
      store = await on.open()
      await store.insertPlan(samplePlan())
      await store.insertCapability(sampleCapability())
    })

    const expectBegunBy = async (attempt: string) => {
      expect(await store.findPlan(planId)).toMatchObject({ state: 'applying' })
      expect(await store.findLease(LEASE, NOW)).toMatchObject({ holder: attempt, fence: 1 })
      expect(await store.findExposure(host)).toStrictEqual(sampleExposure())
      expect(await store.runsOf(planId)).toStrictEqual([sampleRun({ runId: attempt, holder: attempt })])
      const journals = await on.sql('select run_id, seq from journal')
      expect(journals.map((row) => [row.run_id, Number(row.seq)])).toStrictEqual([[attempt, 1]])
    }

    const race = async (hashOf: (i: number) => string) => {
      const second = await on.open()
      const attempts = Array.from({ length: 50 }, (_, i) =>
        (i % 2 ? store : second).transaction((session) => begin(session, `attempt_${i}`, hashOf(i))),
      )
      const outcomes = await Promise.allSettled(attempts)
      const winners = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
      const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.message] : []))
      return { winners, reasons: new Set(reasons) }
    }

    it('is committed completely', async () => {
      await store.transaction((session) => begin(session, 'attempt'))
      await expectBegunBy('attempt')
      expect(await store.spendCapability(presented(), NOW)).toBe('used')
    })

    it('commits nothing when its last statement fails', async () => {
      const failing = store.transaction(async (session) => {
        await begin(session, 'attempt')
        throw new Error('something went wrong')
      })
      await expect(failing).rejects.toThrow('something went wrong')
      expect(await store.findPlan(planId)).toStrictEqual(samplePlan())
      for (const table of ['leases', 'exposures', 'runs', 'journal']) {
        expect(await on.sql(`select * from ${table}`)).toStrictEqual([])
      }
      await store.transaction((session) => begin(session, 'attempt'))
      await expectBegunBy('attempt')
    })

    it('succeeds for one of 50 concurrent uses of the same capability, on two instances', async () => {
      const { winners, reasons } = await race(() => sampleCapability().hash)
      expect(winners).toHaveLength(1)
      expect(reasons).toStrictEqual(new Set(['capability: used']))
      await expectBegunBy(winners[0] ?? '')
    })

    it('succeeds for one of 50 concurrent uses of different capabilities, and spends no other', async () => {
      for (let i = 0; i < 50; i++) await store.insertCapability(sampleCapability({ hash: `hash ${i}` }))
      const { winners, reasons } = await race((i) => `hash ${i}`)
      expect(winners).toHaveLength(1)
      expect(reasons).toStrictEqual(new Set(['busy']))
      await expectBegunBy(winners[0] ?? '')
      expect(await on.sql('select hash from capabilities where used_at is not null')).toHaveLength(1)
    })
  })

  describe('runs over several hosts', () => {
    it('begin at the same moment, in any order of their hosts, on two instances', async () => {
      const stores = [await on.open(), await on.open()]
      const plans = Array.from({ length: 12 }, (_, i) =>
        samplePlan({ planId: `plan_${i}`, host: `h${i}.lab.test`, state: 'applied' }),
      )
      for (const { planId, host } of plans) {
        await stores[0]?.insertPlan(samplePlan({ planId, host, state: 'applied' }))
        await stores[0]?.insertExposure(sampleExposure({ planId, host, state: 'applied', runId: undefined }))
      }
      let attempts = 0
      const outcomes = await Promise.allSettled(
        plans.map((plan, i) => {
          const members = [...plans.slice(i + 1), ...plans.slice(0, i)]
          const beginning = { action: 'renew', plan, members, origin: BY_SCHEDULE, instance: `${i}` } as const
          return stores[i % 2]?.transaction((session) => {
            attempts += 1
            return beginRun({ ...beginning, leaseMs: 1_000, at: NOW }, session)
          })
        }),
      )
      const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
      expect(new Set(refusals)).toStrictEqual(new Set(['plan_busy']))
      // A deadlock would have been tried again.
      expect(attempts).toBe(plans.length)
      const claimed = await on.sql('select run_id from exposures where run_id is not null')
      expect(claimed).toHaveLength(plans.length)
    })
  })
}
